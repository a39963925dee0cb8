import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { hashSecret } from '../../src/gateway/auth/key-ring.ts';
import { captureIo } from '../support/capture-io.ts';
import { startGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { cutAfter, FORGERIES, resign } from './forgeries.ts';

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
