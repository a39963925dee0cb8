import { generateKeyPairSync, sign } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { canonicalJson, sha256 } from '../../src/base/canonical-json.ts';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { main } from '../../src/cli/main.ts';
import { hashSecret } from '../../src/gateway/auth/key-ring.ts';
import { sealKeyId } from '../../src/receipts/seal/seal-keys.ts';
import { captureIo } from '../support/capture-io.ts';
import { startGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

// Somebody can write to the database, and nothing else: no file of the home, no signing key.

const parent = mkdtempSync(join(tmpdir(), 'abp-forged-'));
const genuine = join(parent, 'genuine');
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const say = (url: string, text: string): ReturnType<typeof post> =>
  post(`${url}/e/sim/v1/messages`, JSON.stringify({ model: 'sim-1', max_tokens: 50, messages: [{ role: 'user', content: text }] }));

beforeAll(async () => {
  const server = await startGateway({ home: genuine });
  // One after the other, so that each has a batch of its own.
  for (const text of ['one', 'two', 'three', 'four']) {
    const { headers } = await say(server.url, `say "${text}"`);
    await receiptOf(server.url, headers['x-abp-run-id']);
  }
  await server.close();
});

/** A copy of the home, as somebody with access to its database finds it. */
function copy(): string {
  const home = mkdtempSync(join(parent, 'copy-'));
  cpSync(genuine, home, { recursive: true });
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

function write(home: string, work: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(join(home, 'abp.db'));
  work(db);
  db.close();
}

async function abp(home: string, ...argv: string[]): Promise<{ code: number; out: string }> {
  const io = captureIo();
  const code = await main([...argv, '--home', home], io);
  return { code, out: io.out() + io.err() };
}

const verify = (home: string) => abp(home, 'receipts', 'verify', '--all');

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
function cutAfter(db: DatabaseSync, sequence: number): void {
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
function resign(db: DatabaseSync): void {
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

const FORGERIES: readonly (readonly [string, (db: DatabaseSync) => void])[] = [
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

/** Where the next batch of a server goes on. */
const AT_THE_END = [
  'the last receipt is changed, with its hash and the end of the chain',
  'the last batch is deleted',
  'the last head is deleted',
  'the whole chain is made anew with another key',
];

describe('somebody who can write to the database and has no signing key', () => {
  it('has a genuine home before them, which verifies', async () => {
    const home = copy();
    expect(await verify(home)).toMatchObject({ code: 0 });
    expect((await abp(home, 'doctor', '--json')).out).toContain('the chain ends where this home has signed it');
  });

  it.each(FORGERIES)('is found out by abp receipts verify: %s', async (_, forge) => {
    const home = copy();
    write(home, forge);
    const { code, out } = await verify(home);
    expect(out).toContain('NOT OK');
    expect(code).not.toBe(0);
  });

  it.each(FORGERIES.filter(([name]) => AT_THE_END.includes(name)))(
    'gets nothing signed by a server that starts on it: %s',
    async (_, forge) => {
      const home = copy();
      write(home, forge);
      const server = await startGateway({ home });
      const { headers } = await say(server.url, 'say "after"');
      await receiptOf(server.url, headers['x-abp-run-id']);
      const asked = await call(`${server.url}/v1/receipts/verify`, { headers: ['authorization', `Bearer ${server.token}`] });
      expect(JSON.parse(String(asked.body)).ok).toBe(false);
      await server.close();
      expect(await verify(home)).toMatchObject({ code: expect.not.toSatisfy((code: number) => code === 0) });
    },
  );

  it.each([
    ['the last batch is deleted', (db: DatabaseSync) => cutAfter(db, 3)],
    [
      'the chain is gone',
      (db: DatabaseSync) => {
        for (const table of ['receipts', 'chain_entries', 'chain_heads', 'chains']) db.prepare(`DELETE FROM ${table}`).run();
      },
    ],
    ['the whole chain is made anew', resign],
  ])('is named by abp doctor, before a server has started and after: %s', async (_, forge) => {
    const home = copy();
    write(home, forge);
    expect(await abp(home, 'doctor', '--json')).toMatchObject({
      code: 1,
      out: expect.stringContaining('Somebody has written to the database'),
    });
    for (const told of [
      { status: 'degraded', chain: 'cut' },
      { status: 'ready', chain: 'was-cut' },
    ]) {
      const server = await startGateway({ home });
      expect(JSON.parse((await call(`${server.url}/readyz`)).body.toString())).toMatchObject(told);
      await server.close();
    }
    expect(await abp(home, 'doctor', '--json')).toMatchObject({ code: 1, out: expect.stringContaining('taken away or put in') });
  });

  it('finds out a cut right after the last call, also of a server that was killed', async () => {
    const home = copy();
    const [pem = ''] = readdirSync(join(home, 'seal-keys')).filter((name) => name.endsWith('.json'));
    // Once a minute; the head of every batch is kept beside it.
    rmSync(join(home, 'seal-keys', pem));
    write(home, (db) => cutAfter(db, 3));
    expect(await verify(home)).toMatchObject({ code: expect.any(Number), out: expect.stringContaining('the tail is cut') });
  });

  it('makes no key that opens anything', async () => {
    const home = copy();
    const secret = `abp_${'k'.repeat(43)}`;
    write(home, (db) => {
      const columns = 'id, kind, name, hash, prefix, scopes, recording, tags, created_at, expires_at, revoked_at, run_id, mac';
      db.prepare(
        `INSERT INTO keys (${columns}) VALUES ('key_forged', 'user', 'x', ?, 'abp_kkkkkkkk', '{"admin":true}', NULL, '[]', 1, NULL, NULL, NULL, ?)`,
      ).run(hashSecret(secret), 'ab'.repeat(32));
    });
    const server = await startGateway({ home });
    onTestFinished(server.close);
    const { status } = await call(`${server.url}/v1/keys`, { headers: ['authorization', `Bearer ${secret}`] });
    expect(status).toBe(401);
    expect(readFileSync(join(home, 'token'), 'utf8')).not.toBe('');
  });
});
