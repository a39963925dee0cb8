import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { noteConfigChange } from '../../src/gateway/audit/config-change.ts';
import { loadConfig } from '../../src/gateway/config.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { startServer } from '../../src/gateway/server.ts';
import { openHome } from '../../src/home/home.ts';
import { call, post, send, type WireAnswer } from '../support/http-call.ts';
import { startUpstream, whole } from '../support/recording-upstream.ts';
import { claudeAnswer } from './claude-answers.ts';

interface Scene {
  readonly url: string;
  write(toml: string): void;
  reload(): Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>;
  diff(): Promise<{ status: number; body: ReturnType<typeof JSON.parse> }>;
  ask(model: string): Promise<WireAnswer>;
  get(path: string): Promise<WireAnswer>;
  readonly gateway: Gateway;
}

const parsed = ({ status, body }: WireAnswer) => ({ status, body: JSON.parse(String(body)) });

/** A server that was started with a file. */
async function start(toml: string): Promise<Scene> {
  const parent = mkdtempSync(join(tmpdir(), 'abp-reload-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const path = join(parent, 'abp.toml');
  const write = (text: string): void => writeFileSync(path, `[server]\nport = 0\n${text}`);
  write(toml);
  const reread = () => loadConfig({ path, env: {} });
  const home = openHome({ path: join(parent, 'home') });
  const server = await startServer({ config: reread().config, reread, home, version: '0', log: pino({ level: 'silent' }) });
  onTestFinished(() => server.close());
  const token = ['x-abp-key', home.token];
  return {
    url: server.url,
    write,
    reload: async () =>
      parsed(await call(`${server.url}/v1/config/reload`, { method: 'POST', headers: [...token, 'content-length', '0'] })),
    diff: async () => parsed(await call(`${server.url}/v1/config/diff`, { headers: token })),
    gateway: server.gateway,
    get: (path) => call(`${server.url}${path}`, { headers: token }),
    ask: (model) => post(`${server.url}/v1/messages`, { model, max_tokens: 5, messages: [{ role: 'user', content: 'say hi' }] }),
  };
}

const ROUTE = (to: string): string => `[[routes]]\nmatch = "smart"\nto = "${to}"\n`;

test('routes, limits, rules and engines of the file hold from the next call on', async () => {
  const upstream = await startUpstream();
  onTestFinished(upstream.close);
  upstream.answer((socket) => void socket.write(whole(JSON.stringify(claudeAnswer))));
  const scene = await start(ROUTE('sim/a'));
  expect((await scene.ask('smart')).headers['x-abp-engine']).toBe('sim');
  scene.write(`${ROUTE('mine/b')}[engines.mine]\nbase = "claude"\nauth = "none"\nurl = "${upstream.url}"\n`);
  const { status, body } = await scene.reload();
  expect([status, body.changed.map(({ path }: { path: string }) => path), body.restart]).toEqual([
    200,
    expect.arrayContaining(['engines.mine.url', 'routes']),
    [],
  ]);
  expect((await scene.ask('smart')).headers['x-abp-engine']).toBe('mine');
  scene.write(`${ROUTE('sim/a')}[policy]\ndeny_models = ["a"]\n[limits]\nrequests_per_minute = 2\n`);
  expect((await scene.reload()).status).toBe(200);
  expect((await scene.ask('smart')).status).toBe(403);
  const statuses = [await scene.ask('sim/b'), await scene.ask('sim/b'), await scene.ask('sim/b')].map((reply) => reply.status);
  expect(statuses).toEqual([200, 200, 429]);
  expect((await scene.diff()).body).toMatchObject({ changed: [], restart: [] });
});

test('budgets of the file hold from the next call on, with what was spent of them, and end with their lines', async () => {
  const budget = (limit: string): string => `[[budgets]]\non = { key = "local" }\nperiod = "total"\n${limit}\n`;
  const scene = await start('');
  const ask = async (): Promise<number> => (await scene.ask('sim/b')).status;
  expect([await ask(), await ask()]).toEqual([200, 200]);
  const after = async (toml: string): Promise<string[]> => {
    scene.write(toml);
    const { status, body } = await scene.reload();
    expect([status, body.restart]).toEqual([200, []]);
    return body.changed.map(({ path }: { path: string }) => path);
  };
  expect(await after(budget('limit_requests = 3'))).toEqual(['budgets']);
  expect([await ask(), await ask()]).toEqual([200, 429]);
  await after(budget('limit_requests = 4'));
  expect([await ask(), await ask()]).toEqual([200, 429]);
  await after(budget('limit_requests = 1\naction = "warn"'));
  expect(await ask()).toBe(200);
  const { items } = parsed(await scene.get('/v1/budgets')).body;
  expect(items).toMatchObject([{ source: 'configuration', action: 'warn', limit_requests: 1, spent: { requests: 5 } }]);
  // One that only warns takes no place of one that refuses, in whatever order they stand.
  await after(`${budget('limit_requests = 6')}${budget('limit_requests = 2\naction = "warn"')}`);
  expect([await ask(), await ask()]).toEqual([200, 429]);
  await after(`${budget('limit_requests = 2\naction = "warn"')}${budget('limit_requests = 7')}${budget('limit_tokens = 1_000_000')}`);
  expect([await ask(), await ask()]).toEqual([200, 429]);
  expect(parsed(await scene.get('/v1/budgets')).body.items).toHaveLength(3);
  await after('');
  expect(parsed(await scene.get('/v1/budgets')).body.items).toEqual([]);
  scene.write(budget('limit_requests = 0'));
  expect((await scene.reload()).status).toBe(400);
  expect(await ask()).toBe(200);
});

test('a broken file changes nothing and says why', async () => {
  const scene = await start(ROUTE('sim/a'));
  for (const [broken, why] of [
    ['[[routes]', 'not valid TOML'],
    [ROUTE('nowhere/a'), 'there is no engine "nowhere"'],
    ['[limits]\nrequests_per_minute = -1\n', 'requests_per_minute'],
  ]) {
    scene.write(broken ?? '');
    const { status, body } = await scene.reload();
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(why ?? '')]);
    expect((await scene.ask('smart')).headers['x-abp-engine']).toBe('sim');
  }
});

test('what needs a restart is named and left as it is, and no secret is shown', async () => {
  const scene = await start('');
  scene.write('host = "0.0.0.0"\n[engines.claude]\nkey = "sk-ant-very-new-secret-1"\ntimeout_s = 5\n');
  for (const answer of [await scene.diff(), await scene.reload()]) {
    const { restart, changed } = answer.body;
    const paths = (all: { path: string }[]): string[] => all.map(({ path }) => path);
    expect([paths(changed), paths(restart)]).toEqual([['engines.claude.key', 'engines.claude.timeout_s'], ['server.host']]);
    expect(changed[0]).toMatchObject({ file: '••••' });
    expect(JSON.stringify(answer.body)).not.toContain('very-new-secret');
  }
});

test('a key in a file rotates by a reload: the next call has it, nothing that is kept shows it, and the audit log tells of it', async () => {
  const upstream = await startUpstream();
  onTestFinished(upstream.close);
  const [before, after] = ['plain-vendor-key-before-1', 'plain-vendor-key-after-22'];
  upstream.answer((socket, { headers }) => {
    const key = headers.find(([name]) => name.toLowerCase() === 'x-api-key')?.[1] ?? '';
    const content = [{ type: 'text', text: `your key is ${key}` }];
    socket.write(
      whole(JSON.stringify({ ...claudeAnswer, content }), key === before || key === after ? {} : { status: '401 Unauthorized' }),
    );
  });
  const folder = mkdtempSync(join(tmpdir(), 'abp-reload-key-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'vendor-key');
  writeFileSync(file, `${before}\n`);
  const scene = await start(`[recording]\ndefault = "full"\n[engines.claude]\nurl = "${upstream.url}"\nkey = { file = "${file}" }\n`);
  await noteConfigChange(scene.gateway);
  expect(String((await scene.ask('m')).body)).toContain(before);
  writeFileSync(file, `${after}\n`);
  expect((await scene.reload()).body.changed).toEqual([{ path: 'engines.claude.key', running: '••••', file: '••••' }]);
  const answer = await scene.ask('m');
  expect(String(answer.body)).toContain(after);
  const run = String(answer.headers['x-abp-run-id']);
  const kept = async (): Promise<string> => String((await scene.get(`/v1/recordings/${run}`)).body);
  await expect.poll(kept).toContain('your key is [redacted]');
  expect(await kept()).not.toContain(after);
  const audited = async () => parsed(await scene.get('/v1/audit?action=config.change')).body.items;
  await expect.poll(async () => (await audited()).length).toBe(1);
  const [{ details }] = await audited();
  expect(details.changes).toMatchObject([{ path: 'engines.claude.key' }]);
  expect(JSON.stringify(details)).not.toContain('vendor-key');
});

test('a stream under way goes on though its engine gets another address', async () => {
  const upstream = await startUpstream();
  onTestFinished(upstream.close);
  const engine = (url: string): string => `[engines.claude]\nauth = "none"\nurl = "${url}"\n`;
  const scene = await start(engine(upstream.url));
  const chunks: (() => void)[] = [];
  upstream.answer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n6\r\n: one\n\r\n');
    chunks.push(() => void socket.write('6\r\n: two\n\r\n0\r\n\r\n'));
  });
  const body = JSON.stringify({ model: 'm', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'hi' }] });
  const response = await send(`${scene.url}/v1/messages`, { method: 'POST', headers: ['content-type', 'application/json'], body });
  scene.write(engine('http://127.0.0.1:9'));
  expect((await scene.reload()).status).toBe(200);
  chunks[0]?.();
  let text = '';
  for await (const chunk of response) text += String(chunk);
  expect(text).toBe(': one\n: two\n');
  expect((await scene.ask('m')).status).toBe(503);
});
