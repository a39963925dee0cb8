import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { canonicalJson } from '../../base/canonical-json.ts';
import { parseJsonObject } from '../../base/json.ts';
import { SignedHead } from '../../contract/receipts/chain.ts';
import { replaceFile } from '../../home/private-file.ts';
import type { Store } from '../../store/store.ts';
import { readSigner, signatureCheck } from './seal-keys.ts';

/**
 * The last signed head that this home knows, in a file beside its keys. Somebody who can write to the database alone cannot take entries off the
 * end of the chain without this home noticing. One file per database, because a home may change from one to another.
 */
export async function headFile(store: Store, keysFolder: string): Promise<string> {
  if (store.kind === 'sqlite') return join(keysFolder, 'head-sqlite.json');
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(store.db);
  return join(keysFolder, `head-postgres-${encodeURIComponent(rows[0]?.name ?? '')}.json`);
}

export function keepHead(file: string, keysFolder: string, document: string): void {
  mkdirSync(keysFolder, { recursive: true, mode: 0o700 });
  replaceFile(file, document);
}

/** The head in the file, if a key of this home has signed it for this node. */
export function keptHead(file: string, keysFolder: string, node: string): SignedHead | undefined {
  const head = SignedHead.safeParse(parseJsonObject(textOf(file)));
  if (!head.success || head.data.node !== node) return undefined;
  const { signature, ...message } = head.data;
  const signer = readSigner(keysFolder, head.data.key_id);
  return signer !== undefined && signatureCheck(signer.publicKey)(canonicalJson(message), signature) ? head.data : undefined;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
