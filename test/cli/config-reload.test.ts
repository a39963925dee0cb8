import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { post } from '../support/http-call.ts';
import { callAbp, spawnAbp } from '../support/run-abp.ts';
import { startServe } from '../support/serve.ts';

const routeTo = (model: string): string => `[[routes]]\nmatch = "smart"\nto = "sim/${model}"\n`;

test('abp config diff and reload, SIGHUP and --watch make a changed file hold, and a broken one changes nothing', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-config-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const [home, file] = [join(parent, 'home'), join(parent, 'abp.toml')];
  const write = (text: string): void => writeFileSync(file, text);
  write(routeTo('one'));
  const server = await startServe(home, { ABP_CONFIG: file });
  const abp = (...argv: string[]) => callAbp(['config', ...argv], { env: { ABP_HOME: home } });
  const model = async (url = server.url): Promise<string> => {
    const answer = await post(`${url}/v1/messages`, { model: 'smart', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
    const receipt = await fetch(`${url}/v1/receipts/${answer.headers['x-abp-run-id']}?wait=30`);
    return ((await receipt.json()) as { model: { upstream: string } }).model.upstream; // our own answer
  };
  expect(await model()).toBe('one');

  write(routeTo('two'));
  const diff = await abp('diff');
  expect([diff.code, diff.out]).toEqual([0, expect.stringContaining('routes')]);
  expect(await model()).toBe('one');
  const reload = await abp('reload', '--json');
  expect([reload.code, JSON.parse(reload.out).changed]).toEqual([0, [expect.objectContaining({ path: 'routes' })]]);
  expect(await model()).toBe('two');

  write('[[routes]');
  const broken = await abp('reload');
  expect([broken.code, broken.err]).toEqual([expect.any(Number), expect.stringContaining('TOML')]);
  expect(broken.code).not.toBe(0);
  server.child.kill('SIGHUP');
  expect(await model()).toBe('two');

  write(routeTo('three'));
  server.child.kill('SIGHUP');
  await expect.poll(() => model()).toBe('three');
  expect(await server.end('SIGTERM')).toBe(0);
});

test('a server that is told to read its file again while it starts does so, and goes on', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-config-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const home = join(parent, 'home');
  const child = spawnAbp(['serve', '--json', '--port', '0'], { ABP_HOME: home, ABP_LOG: 'error' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ready = once(createInterface(child.stdout), 'line');
  await expect.poll(() => existsSync(join(home, 'token'))).toBe(true);
  child.kill('SIGHUP');
  const { url } = JSON.parse(String((await ready)[0]));
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

test('abp serve --watch reads its file again when that changes', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-config-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const file = join(parent, 'abp.toml');
  const limit = (calls: number): string => `[limits]\nrequests_per_minute = ${calls}\n`;
  writeFileSync(file, limit(1000));
  const server = await startServe(join(parent, 'home'), { ABP_CONFIG: file }, ['--watch']);
  const status = async (): Promise<number> =>
    (await post(`${server.url}/e/sim/v1/messages`, { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] })).status;
  expect(await status()).toBe(200);
  writeFileSync(file, limit(1));
  await expect.poll(status).toBe(429);
});
