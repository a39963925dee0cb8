import { generateKeyPairSync, sign } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { canonicalJson, sha256 } from '../../src/base/canonical-json.ts';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { sealKeyId } from '../../src/receipts/seal/seal-keys.ts';

interface Row {
  readonly sequence: number;
  readonly document: string;
  readonly run_id: string;
}

const rows = (db: DatabaseSync): Row[] =>
  // The columns of the query.
  db.prepare('SELECT sequence, document, run_id FROM receipts ORDER BY sequence').all() as unknown as Row[];
const row = (db: DatabaseSync, sequence: number): Row =>
  rows(db).find((one) => one.sequence === sequence) ?? expect.fail('no such receipt');
const sealOf = (document: string): JsonObject => {
  const { seal } = JSON.parse(document);
  return isJsonObject(seal) ? seal : expect.fail('it is not sealed');
};

/** Takes entries off the end and makes the database agree with itself. */
export function cutAfter(db: DatabaseSync, sequence: number): void {
  for (const table of ['receipts', 'chain_entries', 'chain_heads']) db.prepare(`DELETE FROM ${table} WHERE sequence > ?`).run(sequence);
  const hash = String(sealOf(row(db, sequence).document).hash);
  db.prepare('UPDATE chains SET sequence = ?, hash = ?').run(sequence, hash);
}

/** A receipt changed, with its own hash made again. */
function rewritten(document: string, change: (receipt: Record<string, unknown>) => void): { document: string; hash: string } {
  const receipt = JSON.parse(document);
  change(receipt);
  const { hash: _hash, ...seal } = receipt.seal;
  const hash = sha256(canonicalJson({ ...receipt, seal }));
  return { document: canonicalJson({ ...receipt, seal: { ...seal, hash } }), hash };
}

const cheaper = (receipt: Record<string, unknown>): void => {
  receipt.tags = ['forged'];
};

/** The whole chain made anew with a key of the forger's own. */
export function resign(db: DatabaseSync): void {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const hex = publicKey.export({ type: 'spki', format: 'der' }).toString('hex').slice(-64);
  const id = sealKeyId(hex);
  let previous = String(sealOf(row(db, 1).document).previous);
  let last = 0;
  for (const one of rows(db)) {
    const { document, hash } = rewritten(one.document, (receipt) => {
      cheaper(receipt);
      receipt.seal = { sequence: one.sequence, previous, key_id: id, hash: '' };
    });
    db.prepare('UPDATE receipts SET document = ?, tags = ? WHERE sequence = ?').run(document, '["forged"]', one.sequence);
    previous = hash;
    last = one.sequence;
  }
  const node = String(JSON.parse(row(db, 1).document).node);
  const message = { at: new Date().toISOString(), count: last, from: 1, hash: previous, key_id: id, kind: 'head', node, sequence: last };
  const signature = sign(null, Buffer.from(canonicalJson(message)), privateKey).toString('hex');
  db.prepare('DELETE FROM chain_heads').run();
  db.prepare('INSERT INTO chain_heads (chain, sequence, document) SELECT number, ?, ? FROM chains').run(
    last,
    canonicalJson({ ...message, signature }),
  );
  db.prepare('DELETE FROM seal_keys').run();
  db.prepare('INSERT INTO seal_keys (id, chain, public_key, created_at, retired_at) SELECT ?, number, ?, 1, NULL FROM chains').run(id, hex);
  db.prepare('UPDATE chains SET hash = ?, key_id = ?').run(previous, id);
}

/** What somebody can do to a home of four receipts who can write to its database and has no signing key. */
export const FORGERIES: readonly (readonly [string, (db: DatabaseSync) => void])[] = [
  [
    'a receipt is changed',
    (db) => db.prepare('UPDATE receipts SET document = ? WHERE sequence = 2').run(row(db, 2).document.replace('completed', 'failed')),
  ],
  [
    'a receipt is changed, and its hash made again',
    (db) => {
      const { document } = rewritten(row(db, 2).document, cheaper);
      db.prepare('UPDATE receipts SET document = ?, tags = \'["forged"]\' WHERE sequence = 2').run(document);
    },
  ],
  [
    'the last receipt is changed, with its hash and the end of the chain',
    (db) => {
      const { document, hash } = rewritten(row(db, 4).document, cheaper);
      db.prepare('UPDATE receipts SET document = ?, tags = \'["forged"]\' WHERE sequence = 4').run(document);
      db.prepare('UPDATE chains SET hash = ?').run(hash);
    },
  ],
  ['a column that permissions use is changed', (db) => db.prepare("UPDATE receipts SET key_id = 'key_mine' WHERE sequence = 3").run()],
  ['a column that lists use is changed', (db) => db.prepare("UPDATE receipts SET status = 'failed' WHERE sequence = 3").run()],
  [
    'a receipt is replaced by a stub that nobody archived',
    (db) => {
      const { document, run_id } = row(db, 2);
      const stub = JSON.stringify({ run_id: `run_${run_id}`, status: 'archived', seal: sealOf(document) });
      db.prepare("UPDATE receipts SET document = ?, status = 'archived' WHERE sequence = 2").run(stub);
    },
  ],
  [
    'a receipt is put in that nobody sealed',
    (db) => {
      const { seal: _seal, ...receipt } = JSON.parse(row(db, 2).document);
      const run = 'f'.repeat(32);
      const document = JSON.stringify({ ...receipt, run_id: `run_${run}` });
      db.prepare('CREATE TEMP TABLE put_in AS SELECT * FROM receipts WHERE sequence = 2').run();
      db.prepare('UPDATE put_in SET run_id = ?, chain = NULL, sequence = NULL, document = ?').run(run, document);
      db.prepare('INSERT INTO receipts SELECT * FROM put_in').run();
    },
  ],
  ['a receipt is moved to a chain that is not there', (db) => db.prepare('UPDATE receipts SET chain = 9 WHERE sequence = 4').run()],
  ['a receipt is deleted', (db) => db.prepare('DELETE FROM receipts WHERE sequence = 2').run()],
  ['the last batch is deleted', (db) => cutAfter(db, 3)],
  ['the newest half is deleted', (db) => cutAfter(db, 2)],
  [
    'the last batch is deleted, and the chain still says that it was there',
    (db) => db.prepare('DELETE FROM receipts WHERE sequence = 4').run(),
  ],
  [
    'two receipts change places',
    (db) => {
      const [two, three] = [row(db, 2), row(db, 3)];
      db.prepare('UPDATE receipts SET sequence = 99 WHERE sequence = 2').run();
      db.prepare('UPDATE receipts SET sequence = 2 WHERE run_id = ?').run(three.run_id);
      db.prepare('UPDATE receipts SET sequence = 3 WHERE run_id = ?').run(two.run_id);
    },
  ],
  [
    'two receipts change contents',
    (db) => {
      const [two, three] = [row(db, 2), row(db, 3)];
      db.prepare('UPDATE receipts SET document = ? WHERE sequence = 2').run(three.document);
      db.prepare('UPDATE receipts SET document = ? WHERE sequence = 3').run(two.document);
    },
  ],
  [
    'the last head is replaced by an earlier one',
    (db) => db.prepare('UPDATE chain_heads SET document = (SELECT document FROM chain_heads WHERE sequence = 1) WHERE sequence = 4').run(),
  ],
  ['the last head is deleted', (db) => db.prepare('DELETE FROM chain_heads WHERE sequence = 4').run()],
  ['every head is deleted', (db) => db.prepare('DELETE FROM chain_heads').run()],
  ['the public key is replaced', (db) => db.prepare('UPDATE seal_keys SET public_key = ?').run('ab'.repeat(32))],
  ['the whole chain is made anew with another key', resign],
];
