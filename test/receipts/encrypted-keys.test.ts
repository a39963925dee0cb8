import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

const SECRET = 'a secret that lies outside of the home';

let folder: string;
let home: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-encrypted-'));
  home = join(folder, 'home');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const keyFiles = (): string[] => readdirSync(join(home, 'seal-keys')).filter((name) => name.endsWith('.pem'));
const kept = (): string[] => keyFiles().map((name) => readFileSync(join(home, 'seal-keys', name), 'utf8'));

async function serving<T>(key_secret: string | undefined, work: (server: TestGateway) => Promise<T>): Promise<T> {
  const server = await startGateway({ home, config: { receipts: { key_secret } } });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

/** A call with a sealed receipt, and whether the whole chain verifies. */
async function sealed({ url, token }: TestGateway): Promise<unknown> {
  const body = { model: 'sim-1', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
  const answer = await post(`${url}/e/sim/v1/messages`, body);
  await receiptOf(url, answer.headers['x-abp-run-id']);
  const { body: verified } = await call(`${url}/v1/receipts/verify`, { headers: ['x-abp-key', token] });
  return JSON.parse(String(verified)).ok;
}

it('encrypts the keys of a home that had none encrypted, signs on with them, and rotates them', async () => {
  expect(await serving(undefined, sealed)).toBe(true);
  expect(kept()).toEqual([expect.stringContaining('PRIVATE KEY')]);
  const before = keyFiles();
  expect(await serving(SECRET, sealed)).toBe(true);
  expect([keyFiles(), kept()]).toEqual([before, [expect.stringMatching(/^sealed:/)]]);
  await serving(SECRET, async (server) => {
    await post(`${server.url}/v1/receipts/keys/rotate`, {}, ['x-abp-key', server.token]);
    expect(await sealed(server)).toBe(true);
  });
  expect(keyFiles()).not.toEqual(before);
  expect(kept()).toEqual([expect.stringMatching(/^sealed:/)]);
});

it('does not begin another chain where the secret is missing or another one', async () => {
  expect(await serving(SECRET, sealed)).toBe(true);
  await expect(serving(undefined, sealed)).rejects.toThrow('receipts.key_secret is not set');
  await expect(serving('another secret, which is as long as it must be', sealed)).rejects.toThrow('receipts.key_secret is another one');
  expect(await serving(SECRET, sealed)).toBe(true);
});
