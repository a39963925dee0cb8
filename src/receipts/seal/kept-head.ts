import { closeSync, constants, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { canonicalJson } from '../../base/canonical-json.ts';
import { type JsonObject, parseJsonObject } from '../../base/json.ts';
import type { SignedHead } from '../../contract/receipts/chain.ts';
import { replaceFile } from '../../home/private-file.ts';
import type { Store } from '../../store/store.ts';
import { headName } from './head-files.ts';
import { readSigner, signatureCheck } from './seal-keys.ts';

/**
 * The last signed head that this home knows, in files beside its keys. Somebody who can write to the database alone cannot take entries off the
 * end of the chain, or put others there, without this home noticing. Files for each database, because a home may change from one to another.
 */
export async function headFile(store: Store, keysFolder: string): Promise<string> {
  if (store.kind === 'sqlite') return join(keysFolder, `${headName(undefined)}.json`);
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(store.db);
  return join(keysFolder, `${headName(rows[0]?.name ?? '')}.json`);
}

/** Keeps a head that was told to the world: it survives a loss of power, as do the entries that it signs. */
export function keepHead(file: string, keysFolder: string, document: string): void {
  mkdirSync(keysFolder, { recursive: true, mode: 0o700 });
  replaceFile(file, document);
}

/** A head has less than half as many characters. */
const PLACE = 1024;
const newestFile = (file: string): string => file.replace(/\.json$/, '.newest');

/** Keeps the head of every batch, right after the database has it. One write in place, in turns of two: if one is torn, the other is whole. */
export class NewestHead {
  readonly #file: string;
  #turn = 0;

  constructor(file: string) {
    this.#file = newestFile(file);
  }

  keep(document: string): void {
    const descriptor = openSync(this.#file, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      writeSync(descriptor, `${document.padEnd(PLACE - 1)}\n`, this.#turn * PLACE, 'latin1');
    } finally {
      closeSync(descriptor);
    }
    this.#turn = 1 - this.#turn;
  }
}

/** The newest head in the files that a key of this home has signed for this node. */
export function keptHead(file: string, keysFolder: string, node: string): SignedHead | undefined {
  const written = [textOf(file), ...textOf(newestFile(file)).split('\n')];
  const heads = written.flatMap((text) => signedHere(text.replaceAll('\0', '').trim(), keysFolder, node) ?? []);
  return heads.toSorted((a, b) => b.sequence - a.sequence)[0];
}

/** The head in a text, if a key of this home has signed it for this node. */
export function signedHere(text: string, keysFolder: string, node: string): SignedHead | undefined {
  const head = text === '' ? undefined : parseJsonObject(text);
  if (head === undefined || !isHead(head) || head.node !== node) return undefined;
  const { signature, ...message } = head;
  const signer = readSigner(keysFolder, head.key_id);
  return signer !== undefined && signatureCheck(signer.publicKey)(canonicalJson(message), signature) ? head : undefined;
}

const TEXTS = ['node', 'at', 'hash', 'key_id', 'signature'];
const COUNTS = ['from', 'sequence', 'count'];

/** Without the schema of the contract, because the thread that opens chains does without zod; what a key of this home signed, we have written. */
function isHead(head: JsonObject): head is JsonObject & SignedHead {
  return (
    head.kind === 'head' &&
    TEXTS.every((name) => typeof head[name] === 'string') &&
    COUNTS.every((name) => Number.isSafeInteger(head[name]))
  );
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
