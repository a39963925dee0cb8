import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

let server: TestGateway;
let token: string[];

beforeAll(async () => {
  server = await startGateway();
  token = ['authorization', `Bearer ${server.token}`];
});
afterAll(() => server.close());

/** Everything the home has on disk in files, decompressed. */
function onDisk(folder = server.home): string {
  return readdirSync(folder)
    .map((name) => {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) return onDisk(path);
      const bytes = readFileSync(path);
      return (name.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes).toString('latin1');
    })
    .join('\n');
}

const ask = (word: string): string =>
  JSON.stringify({ model: 'sim-1', max_tokens: 9, messages: [{ role: 'user', content: `say "${word}"` }] });
const made = async (word: string, key?: string): Promise<WireAnswer> => {
  const run = await post(`${server.url}/e/sim/v1/messages`, ask(word), key === undefined ? [] : ['X-ABP-Key', key]);
  await receiptOf(server.url, run.headers['x-abp-run-id'], token);
  return run;
};
const newKey = async (name: string, tags: readonly string[]): Promise<{ id: string; secret: string }> =>
  JSON.parse((await post(`${server.url}/v1/keys`, { name, recording: 'full', tags }, token)).body.toString());
const status = async (run: WireAnswer, which = 'request'): Promise<number> =>
  (await call(`${server.url}/v1/receipts/${run.headers['x-abp-run-id']}/${which}`, { headers: token })).status;

it('one run’s bodies are erased from the disk, those of others stay, and so does the receipt', async () => {
  const [gone, kept] = [await made('secretplan'), await made('harmless')];
  expect(onDisk()).toContain('secretplan');
  const erased = await call(`${server.url}/v1/receipts/${gone.headers['x-abp-run-id']}/bodies`, { method: 'DELETE' });
  expect(erased.status).toBe(204);
  expect([await status(gone), await status(gone, 'response')]).toEqual([404, 404]);
  expect(onDisk()).not.toContain('secretplan');
  expect([await status(kept), await status(kept, 'response')]).toEqual([200, 200]);
  expect((await call(`${server.url}/v1/receipts/${kept.headers['x-abp-run-id']}/request`)).body.toString()).toBe(ask('harmless'));
  expect(await receiptOf(server.url, gone.headers['x-abp-run-id'])).toMatchObject({ status: 'completed' });
});

it('a body that another run had too stays until that one is erased as well', async () => {
  const [first, second] = [await made('twice'), await made('twice')];
  await call(`${server.url}/v1/receipts/${first.headers['x-abp-run-id']}/bodies`, { method: 'DELETE' });
  expect([await status(first), await status(second)]).toEqual([404, 200]);
  await call(`${server.url}/v1/receipts/${second.headers['x-abp-run-id']}/bodies`, { method: 'DELETE' });
  expect(onDisk()).not.toContain('twice');
});

it('bodies are erased by key and by tag, by their owner or the operator', async () => {
  const [blue, red] = [await newKey('blue', ['team-blue']), await newKey('red', ['team-red'])];
  const runs = [await made('one', blue.secret), await made('two', red.secret), await made('three')];
  const erase = async (query: string, headers: readonly string[]): Promise<number> =>
    JSON.parse((await call(`${server.url}/v1/recordings?${query}`, { method: 'DELETE', headers })).body.toString()).erased;
  expect(await erase('tag=team-red', ['X-ABP-Key', blue.secret])).toBe(0);
  expect(await erase(`key=${red.id}`, ['X-ABP-Key', blue.secret])).toBe(0);
  expect(await erase(`key=${blue.id}`, ['X-ABP-Key', blue.secret])).toBe(1);
  expect(await Promise.all(runs.map((run) => status(run)))).toEqual([404, 200, 200]);
  expect(await erase('tag=team-red', token)).toBe(1);
  expect(await Promise.all(runs.map((run) => status(run)))).toEqual([404, 404, 200]);
  const nothing = await call(`${server.url}/v1/recordings`, { method: 'DELETE', headers: token });
  expect(nothing.status).toBe(400);
});
