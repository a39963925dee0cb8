import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/base/canonical-json.ts';
import { openHome } from '../../src/home/home.ts';
import { exportLines } from '../../src/receipts/export.ts';
import { Drain } from '../../src/receipts/keeper/drain.ts';
import { closeInterrupted } from '../../src/receipts/keeper/interrupted.ts';
import { openChain } from '../../src/receipts/seal/chain.ts';
import { sealKeysFolder } from '../../src/receipts/seal/seal-keys.ts';
import { verifyExport } from '../../src/receipts/verify/verify-bytes.ts';
import { verifyStored } from '../../src/receipts/verify/verify-stored.ts';
import { openStore } from '../../src/store/database.ts';
import { findKeyByHash } from '../../src/store/keys.ts';
import { chainOf, listSealKeys } from '../../src/store/receipts/chain.ts';
import { listReceipts } from '../../src/store/receipts/receipts.ts';
import type { KeysTable } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';

/**
 * A home that version 0.1.0 wrote: 990 receipts of every kind under abp-content/1, some of them archived or deleted, a change of key,
 * and a journal with the facts of ten more runs that nobody has drained, one of which did not end.
 */
const FIXTURE = new URL('./fixtures/home-0.1.0.json.br', import.meta.url);

let path: string;
let store: Store;
beforeEach(async () => {
  path = mkdtempSync(join(tmpdir(), 'abp-earlier-'));
  const files: Record<string, string> = JSON.parse(brotliDecompressSync(readFileSync(FIXTURE)).toString('utf8'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content, { encoding: 'latin1', mode: 0o600 });
  }
  store = await openStore({ home: openHome({ path }) });
});
afterEach(async () => {
  await store.close();
  rmSync(path, { recursive: true, force: true });
});

function rowOf(id: string, hash: string): KeysTable {
  const nothing = { recording: null, expires_at: null, revoked_at: null, run_id: null, mac: null, rotated_at: null, last_used_at: null };
  return {
    ...nothing,
    id: `${id}0`,
    kind: 'user',
    name: 'forged',
    hash,
    prefix: 'abp_',
    scopes: '{"admin":true}',
    tags: '[]',
    created_at: 1,
  };
}

describe('a home of the version before', () => {
  const node = (): string => openHome({ path }).nodeId;

  it('verifies as it was sealed, in the database and as an export', async () => {
    const chain = await chainOf(store, node());
    expect(await verifyStored(store, chain)).toMatchObject({ ok: true, receipts: 970, removed: 20, last: 993 });
    const publicKeys = (await listSealKeys(store)).map((key) => key.publicKey);
    const lines = (await Array.fromAsync(exportLines(store, chain))).flat().map((line) => Buffer.from(`${line}\n`));
    expect(await verifyExport(lines, { publicKeys })).toMatchObject({ ok: true, receipts: 970 });
  });

  it('keeps its keys, and takes no other row for one from then on', async () => {
    const hash = sha256('abp_before_secret');
    const key = await findKeyByHash(store, hash);
    expect(key).toMatchObject({ name: 'before', revokedAt: null });
    await store.db
      .insertInto('keys')
      .values({ ...rowOf(key?.id ?? '', sha256('forged')) })
      .execute();
    await store.close();
    store = await openStore({ home: openHome({ path }) });
    expect(await findKeyByHash(store, hash)).toEqual(key);
    expect(await findKeyByHash(store, sha256('forged'))).toBeUndefined();
  });

  it('goes on: its journal is drained into receipts of the new profile, in the same chain', async () => {
    const home = openHome({ path });
    const chain = await openChain(store, home.nodeId, sealKeysFolder(path));
    const origin = { node: home.nodeId, version: 'next' };
    const drained = await new Drain({ store, folder: home.journalFolder, origin, chain }).all();
    expect(drained).toHaveLength(10);
    expect(await closeInterrupted(store, chain, origin, { now: Date.now() })).toBe(1);
    const { items } = await listReceipts(store, { limit: 10 });
    expect(new Set(items.map(({ document }) => document.hash_profile))).toEqual(new Set(['abp-content/2']));
    expect(items.map(({ document }) => [document.answer_fidelity, document.rules, document.change_set])).toEqual(
      items.map(() => [[], [], null]),
    );
    expect(await verifyStored(store, await chainOf(store, home.nodeId))).toMatchObject({ ok: true, receipts: 980, last: 1003 });
  });
});
