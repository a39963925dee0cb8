import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SignedHead } from '../../src/contract/receipts/chain.ts';
import { ChainVerification } from '../../src/contract/receipts/chain-verification.ts';
import { Receipt } from '../../src/contract/receipts/receipt.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { hashSecret } from '../../src/gateway/auth/key-ring.ts';
import { verifyExport } from '../../src/receipts/verify/verify-bytes.ts';
import { createKey } from '../../src/store/keys.ts';
import { chainOf } from '../../src/store/receipts/chain.ts';
import { markedUpTo } from '../../src/store/receipts/mark-rows.ts';
import { rolledUpTo } from '../../src/store/usage/rollups.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, send } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

const ask = (content = 'say "x"'): string => JSON.stringify({ model: 'sim-1', max_tokens: 50, messages: [{ role: 'user', content }] });

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

const token = (): string[] => ['authorization', `Bearer ${server.token}`];
const get = async (path: string, headers: readonly string[] = token()) => {
  const { status, body } = await call(`${server.url}${path}`, { headers });
  return { status, json: () => JSON.parse(body.toString()), text: body.toString() };
};
const command = (path: string, body: object) => post(`${server.url}${path}`, JSON.stringify(body), token());
const run = async (headers: readonly string[] = []): Promise<Receipt> => {
  const answer = await post(`${server.url}/e/sim/v1/messages`, ask(), headers);
  return await receiptOf(server.url, answer.headers['x-abp-run-id'], token());
};
const newKey = async (): Promise<{ id: string; secret: string }> =>
  JSON.parse((await command('/v1/keys', { name: 'test' })).body.toString());

describe('a receipt', () => {
  it('is sealed when it can be read, and verifies', async () => {
    const { run_id, seal } = await run();
    expect(seal).toMatchObject({ sequence: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const found = ChainVerification.parse((await get(`/v1/receipts/${run_id}/verify`, [])).json());
    expect(found).toMatchObject({ ok: true, receipts: 1, problems: [] });
  });

  it('is verified for those who may see it only', async () => {
    const { secret } = await newKey();
    const { run_id } = await run(['x-abp-key', secret]);
    expect((await get(`/v1/receipts/${run_id}/verify`, ['x-abp-key', secret])).status).toBe(200);
    expect((await get(`/v1/receipts/${run_id}/verify`, [])).status).toBe(404);
  });

  it('is found by what the run did', async () => {
    const [one, two] = [await run(), await run()];
    expect(two.receipt_sha256).toBe(one.receipt_sha256);
    const { items } = (await get(`/v1/receipts?content=${one.receipt_sha256}`, [])).json();
    expect(items.map((item: Receipt) => item.run_id)).toEqual(expect.arrayContaining([one.run_id, two.run_id]));
    expect((await get('/v1/receipts?content=abc')).status).toBe(400);
  });

  it('comes with a proof that a caller can check alone, where receipts of others are links', async () => {
    const { secret } = await newKey();
    const mine = await run(['x-abp-key', secret]);
    await run();
    const proof = (await get(`/v1/receipts/${mine.run_id}/proof`, ['x-abp-key', secret])).json();
    expect(proof).toMatchObject({ run_id: mine.run_id, sequence: mine.seal?.sequence });
    expect(JSON.parse(proof.lines[0])).toEqual(mine);
    expect(JSON.parse(proof.lines.at(-1))).toMatchObject({ kind: 'head' });
    expect(proof.lines.slice(1).map((line: string) => JSON.parse(line).kind)).not.toContain(undefined);
    expect(JSON.parse(proof.before)).toEqual({ kind: 'link', sequence: proof.sequence - 1, hash: mine.seal?.previous });
    const publicKeys = proof.keys.map((key: { public_key: string }) => key.public_key);
    const lines = proof.lines.map((line: string) => Buffer.from(`${line}\n`));
    expect(await verifyExport(lines, { publicKeys })).toMatchObject({ ok: true, receipts: 1 });
    expect((await get(`/v1/receipts/${mine.run_id}/proof`, [])).status).toBe(404);
  });

  it('is compared with another: what the runs did, apart from what is of the moment', async () => {
    const [one, two] = [await run(), await run()];
    const { equal, members } = (await get(`/v1/receipts/diff?a=${one.run_id}&b=${two.run_id}`, [])).json();
    expect(equal).toBe(true);
    expect(members.filter((member: { of_the_moment: boolean }) => !member.of_the_moment)).toEqual([]);
    expect(members).toContainEqual({ path: 'run_id', a: one.run_id, b: two.run_id, of_the_moment: true });
    expect((await get(`/v1/receipts/diff?a=${one.run_id}&b=${newRunId()}`, [])).status).toBe(404);
  });

  it('is found by when it began', async () => {
    const { run_id, started_at } = await run();
    const runs = async (query: string): Promise<string[]> =>
      (await get(`/v1/receipts?limit=1000&${query}`)).json().items.map((item: Receipt) => item.run_id);
    expect(await runs(`since=${started_at}`)).toContain(run_id);
    expect(await runs(`until=${started_at}`)).not.toContain(run_id);
    expect((await get('/v1/receipts?since=yesterday')).status).toBe(400);
  });
});

it('a call with the key of a run names that run as its parent', async () => {
  const parent = newRunId();
  const secret = `abp_${'r'.repeat(43)}`;
  await createKey(server.gateway.store, {
    kind: 'run',
    name: 'run key',
    hash: hashSecret(secret),
    prefix: secret.slice(0, 12),
    scopes: {},
    createdAt: Date.now(),
    runId: parent,
  });
  expect((await run(['x-abp-key', secret])).parent_run_id).toBe(parent);
  expect((await run()).parent_run_id).toBeNull();
});

describe('the chain', () => {
  it('is exported whole and verifies with the published keys and head', async () => {
    await run();
    const keys = (await get('/v1/receipts/keys', [])).json().items;
    expect(keys).toMatchObject([{ algorithm: 'Ed25519', retired_at: null, node: server.gateway.home.nodeId }]);
    const head = SignedHead.parse((await get('/v1/receipts/head', [])).json());
    const { text } = await get('/v1/receipts/export');
    const found = await verifyExport([Buffer.from(text)], {
      publicKeys: keys.map((key: { public_key: string }) => key.public_key),
      head: { ...head, signed: head },
    });
    expect(found).toMatchObject({ ok: true, tail: 'known', first: 1, last: head.sequence });
  });

  it('is exported, signed anew and emptied by those who administer the server only', async () => {
    const { secret } = await newKey();
    for (const headers of [[], ['x-abp-key', secret]]) {
      expect((await get('/v1/receipts/export', headers)).status).toBe(403);
      expect((await post(`${server.url}/v1/receipts/keys/rotate`, '{}', headers)).status).toBe(403);
      expect((await post(`${server.url}/v1/receipts/remove`, '{"status":"deleted","tag":"x"}', headers)).status).toBe(403);
    }
  });

  it('changes its key while runs go on', async () => {
    const [changed] = await Promise.all([command('/v1/receipts/keys/rotate', {}), ...Array.from({ length: 20 }, () => run())]);
    const { old_key, new_key } = JSON.parse(changed.body.toString());
    const keys = (await get('/v1/receipts/keys')).json().items;
    expect(keys.map((key: { id: string; retired_at: string | null }) => [key.id, key.retired_at === null])).toEqual([
      [old_key, false],
      [new_key, true],
    ]);
    const { text } = await get('/v1/receipts/export');
    expect(await verifyExport([Buffer.from(text)], { publicKeys: [keys[0].public_key] })).toMatchObject({
      ok: true,
      keys: [old_key, new_key],
    });
  });

  /** How often a name stands in the files of the database, wherever in them. */
  const inDatabase = (name: RegExp): number =>
    ['abp.db', 'abp.db-wal'].flatMap((file) => [...readFileSync(join(server.home, file), 'latin1').matchAll(name)]).length;
  const callModel = async (model: string, key: readonly string[] = token()): Promise<Receipt> => {
    const { headers } = await post(`${server.url}/e/sim/v1/messages`, ask().replace('sim-1', model), key);
    return await receiptOf(server.url, headers['x-abp-run-id'], key);
  };

  it('leaves nothing of a removed receipt in the file of the database, and goes on in another journal', async () => {
    const { id, secret } = await newKey();
    // Tables grow meanwhile, and the database moves rows from page to page.
    const calls = Array.from({ length: 60 }, (_, at) => [
      callModel(`a-telling-name-${at}`, ['x-abp-key', secret]),
      callModel(`another-${at}`),
    ]);
    await Promise.all(calls.flat());
    const segments = (): string[] => readdirSync(join(server.home, 'journal')).filter((name) => name.endsWith('.facts'));
    expect(inDatabase(/a-telling-name/g)).toBeGreaterThan(0);
    const before = segments();
    await command('/v1/receipts/remove', { status: 'deleted', key: id });
    expect(inDatabase(/a-telling-name/g)).toBe(0);
    expect(segments()).toHaveLength(before.length + 1);
  });

  it('brings nothing of a removed receipt back with sums and marks that are written later', async () => {
    const { id, secret } = await newKey();
    await callModel('sim-1');
    const { seal } = await callModel('a-name-of-a-moment', ['x-abp-key', secret]);
    await command('/v1/receipts/remove', { status: 'deleted', key: id });
    const { store } = server.gateway;
    const chain = (await chainOf(store, server.gateway.home.nodeId)).number;
    const sequence = seal?.sequence ?? expect.fail();
    await expect
      .poll(async () => Math.min(await rolledUpTo(store, chain), await markedUpTo(store, chain)))
      .toBeGreaterThanOrEqual(sequence);
    expect(inDatabase(/a-name-of-a-moment/g)).toBe(0);
    const usage = (await get('/v1/usage?by=key')).json();
    expect(JSON.stringify(usage)).not.toContain(id);
  });

  it('keeps stubs of what a key did, once that was removed', async () => {
    const { id, secret } = await newKey();
    const gone = [await run(['x-abp-key', secret]), await run(['x-abp-key', secret])];
    const removed = await command('/v1/receipts/remove', { status: 'deleted', key: id, reason: 'asked' });
    expect(JSON.parse(removed.body.toString())).toEqual({ count: 2, run_ids: gone.map(({ run_id }) => run_id) });
    const stub = (await get(`/v1/receipts/${gone[0]?.run_id}`)).json();
    expect(stub).toMatchObject({ status: 'deleted', receipt_sha256: gone[0]?.receipt_sha256, seal: gone[0]?.seal });
    expect(stub).not.toHaveProperty('task');
    expect((await get(`/v1/receipts/${gone[0]?.run_id}/verify`)).json()).toMatchObject({ ok: true });
    expect((await get(`/v1/receipts/${gone[0]?.run_id}/fidelity`)).json()).toMatchObject({
      error: { code: 'not_found', message: `What the receipt of ${gone[0]?.run_id} said was removed.` },
    });
    expect((await command('/v1/receipts/remove', { status: 'deleted' })).status).toBe(400);
  });
});

describe('the stream of receipts', () => {
  /** Reads events until there are so many. */
  async function events(path: string, headers: readonly string[], count: number): Promise<{ id: string; event: string; data: string }[]> {
    const response = await send(`${server.url}${path}`, { headers });
    let text = '';
    const frames = (): string[] =>
      text
        .split('\n\n')
        .slice(0, -1)
        .filter((frame) => frame.startsWith('id:'));
    for await (const chunk of response) {
      text += String(chunk);
      if (frames().length >= count) break;
    }
    return frames().map((frame) => {
      const [id = '', event = '', data = ''] = frame.split('\n').map((line) => line.slice(line.indexOf(':') + 2));
      return { id, event, data };
    });
  }

  it('begins now, and brings each receipt as it is sealed', async () => {
    const reading = events('/v1/receipts/stream', token(), 3);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const runs = [await run(), await run()];
    const [open, ...received] = await reading;
    expect(open?.event).toBe('open');
    expect(received.map(({ data }) => Receipt.parse(JSON.parse(data)).run_id)).toEqual(runs.map(({ run_id }) => run_id));
    expect(received.map(({ id }) => Number(id))).toEqual(runs.map(({ seal }) => seal?.sequence));
  });

  it('goes on after an event, by its sequence or its run', async () => {
    const runs = [await run(), await run(), await run()];
    const after = runs[0];
    for (const last of [String(after?.seal?.sequence), after?.run_id ?? '']) {
      const received = await events('/v1/receipts/stream', [...token(), 'last-event-id', last], 3);
      expect(received.slice(1).map(({ id }) => Number(id))).toEqual(runs.slice(1).map(({ seal }) => seal?.sequence));
    }
    expect((await get('/v1/receipts/stream?after=nowhere')).status).toBe(400);
    expect((await get('/v1/receipts/stream?after=1000000')).json().error.message).toMatch(/ends at \d+, before 1000000; begin without/);
  });

  it('brings a caller its own receipts only', async () => {
    const { secret } = await newKey();
    const reading = events('/v1/receipts/stream', ['x-abp-key', secret], 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await run();
    const own = await run(['x-abp-key', secret]);
    expect((await reading).slice(1).map(({ id }) => Number(id))).toEqual([own.seal?.sequence]);
  });
});

it('a server that ends lets its streams end and sends the last head to the webhook', async () => {
  const heads: SignedHead[] = [];
  const hook = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      heads.push(SignedHead.parse(JSON.parse(body)));
      response.end();
    });
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const { port } = hook.address() as AddressInfo;
  const other = await startGateway({ config: { receipts: { head_webhook: `http://127.0.0.1:${port}/heads` } } });
  const stream = await send(`${other.url}/v1/receipts/stream`, { headers: ['authorization', `Bearer ${other.token}`] });
  stream.resume();
  const answer = await post(`${other.url}/e/sim/v1/messages`, ask());
  await receiptOf(other.url, answer.headers['x-abp-run-id']);
  const ended = new Promise((resolve) => stream.once('end', resolve));
  const before = performance.now();
  await other.close();
  await ended;
  expect(performance.now() - before).toBeLessThan(60_000);
  expect(heads).toMatchObject([{ kind: 'head', sequence: 1, count: 1 }]);
  expect(other.logs()).toContain('signed head of the chain of receipts');
  hook.close();
});

it('receipts that are older than they are kept are archived, and deleted when they are older still', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-retention-'));
  const home = join(parent, 'home');
  const first = await startGateway({ home });
  const answer = await post(`${first.url}/e/sim/v1/messages`, ask());
  const { run_id } = await receiptOf(first.url, answer.headers['x-abp-run-id']);
  await first.close();
  const kept = await startGateway({ home, config: { receipts: { retention_days: 1e-9 } } });
  await expect.poll(async () => JSON.parse((await call(`${kept.url}/v1/receipts/${run_id}`)).body.toString()).status).toBe('archived');
  await kept.close();
  const left = await startGateway({ home, config: { receipts: { deletion_days: 1e-9 } } });
  const list = async () => JSON.parse((await call(`${left.url}/v1/receipts`)).body.toString()).items;
  await expect.poll(async () => (await list())[0].status, { timeout: 60_000 }).toBe('deleted');
  expect(JSON.parse((await call(`${left.url}/v1/receipts?engine=sim`)).body.toString()).items).toEqual([]);
  expect(JSON.parse((await call(`${left.url}/v1/receipts/${run_id}/verify`)).body.toString())).toMatchObject({ ok: true });
  await left.close();
  rmSync(parent, { recursive: true, force: true });
});

it('without a journal no call is made, and everybody can see why', async () => {
  const other = await startGateway();
  const folder = join(other.home, 'journal');
  renameSync(folder, `${folder}-away`);
  const refused = await post(`${other.url}/e/sim/v1/messages`, ask());
  expect(refused.status).toBe(503);
  expect(JSON.parse(refused.body.toString()).error.message).toContain('no call is made without a record');
  const ready = await call(`${other.url}/readyz`);
  expect([ready.status, JSON.parse(ready.body.toString())]).toEqual([
    503,
    { status: 'degraded', database: 'ok', journal: 'unwritable', chain: 'ok' },
  ]);
  expect(other.logs()).toContain('no call is taken until the journal can be written again');
  mkdirSync(folder);
  await expect.poll(async () => (await call(`${other.url}/readyz`)).status, { timeout: 60_000 }).toBe(200);
  expect(other.logs()).toContain('the journal can be written again, and calls are taken');
  const answer = await post(`${other.url}/e/sim/v1/messages`, ask());
  expect((await receiptOf(other.url, answer.headers['x-abp-run-id'])).status).toBe('completed');
  await other.close();
});
