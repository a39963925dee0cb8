import { expect, onTestFinished, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { createKey, revokeRunKeys } from '../../src/store/keys.ts';
import { captureIo } from '../support/capture-io.ts';
import { startGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';

async function abp(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = captureIo({});
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}

const body = { model: 'm', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] };

test('a key made on the command line opens what it says, is listed without its secret, and dies when revoked', async () => {
  const gateway = await startGateway({ config: { auth: { local: false } } });
  onTestFinished(gateway.close);
  const home = ['--home', gateway.home];
  const made = await abp('keys', 'create', 'ci of the shop', '--engine', 'sim', '--tag', 'ci', '--expires', '30', '--json', ...home);
  expect([made.code, made.err]).toEqual([0, '']);
  const { id, secret } = JSON.parse(made.out);
  const call = async (engine: string): Promise<number> =>
    (await post(`${gateway.url}/e/${engine}/v1/messages`, body, ['x-api-key', secret])).status;
  expect([await call('sim'), await call('claude')]).toEqual([200, 403]);
  await gateway.gateway.keeper.settled();
  const listed = await abp('keys', 'list', '--no-color', ...home);
  expect(listed.out).toMatch(/ci of the shop {2}abp_\S{8} {2}– +engines sim {2}ci +\d+ (?:s|min) ago +until \d{4}-\d\d-\d\d/);
  expect(listed.out).not.toContain(secret);
  expect(await abp('keys', 'revoke', id, ...home)).toEqual({ code: 0, out: `${id} is revoked.\n`, err: '' });
  expect(await call('sim')).toBe(401);
  expect((await abp('keys', 'list', '--no-color', ...home)).out).toContain('revoked');
});

test('a key without a server to make it, or with a wrong expiry, is refused with what to do', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  const wrong = await abp('keys', 'create', 'x', '--expires', 'soon', '--home', gateway.home);
  expect([wrong.code, wrong.err]).toEqual([2, "abp: 'soon' is not a number of days\nhint: Give a number above 0, such as 30, or never.\n"]);
});

test.each([
  [['--engine', 'gemni'], 'The key may use the engine "gemni", which nobody here knows. Did you mean gemini?'],
  [['--engine', 'claude', '--model', 'claude-sonet-4-5'], 'which nobody here knows. Did you mean claude-sonnet-4-5?'],
  [['--model', 'claude-sonet-4-5'], 'which nobody here knows. Did you mean claude-sonnet-4-5?'],
  [['--engine', 'claude', '--model', 'my-own-model'], 'The key may use the model "my-own-model", which nobody here knows.'],
])('a key with %j is refused as a slip', async (options, message) => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  const { code, err } = await abp('keys', 'create', 'x', ...options, '--home', gateway.home);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test.each([
  ['--engine', 'clau*', '--model', 'claude-sonnet-4-5'],
  ['--engine', 'sim:claude'],
  ['--engine', 'claude', '--model', 'claude-of-tomorrow*'],
  ['--engine', 'ollama', '--model', 'my-own-model'],
  ['--model', 'claude-sonnet-4-6-of-ours'],
  ['--model', 'qwen3:8b'],
])('a key with %s %s is made', async (...options) => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  expect(await abp('keys', 'create', 'x', ...options, '--home', gateway.home)).toMatchObject({ code: 0, err: '' });
});

test('keys of runs that have ended are shown only when they are asked for', async () => {
  const gateway = await startGateway();
  onTestFinished(gateway.close);
  const { store } = gateway.gateway;
  const run = newRunId();
  await createKey(store, { kind: 'run', name: 'of a run', hash: 'h', prefix: 'abp_', scopes: {}, createdAt: Date.now(), runId: run });
  const list = async (...more: string[]): Promise<string> => (await abp('keys', 'list', ...more, '--home', gateway.home)).out;
  expect(await list()).toContain('of a run');
  await revokeRunKeys(store, [run], Date.now());
  expect([await list(), await list('--ended')]).toEqual([expect.not.stringContaining('of a run'), expect.stringContaining('of a run')]);
});
