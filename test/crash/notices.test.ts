import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { call, post } from '../support/http-call.ts';
import { type PostReceiver, startReceiver } from '../support/posts.ts';
import { startServe } from '../support/serve.ts';

const ask = (content: string) => ({ model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content }] });
const told = ({ posts }: PostReceiver) => posts.map(({ body }) => JSON.parse(body));

it('delivers what a killed server had in hand, and each occasion once', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-webhooks-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const hook = await startReceiver();
  hook.answer(503);
  const config = join(parent, 'abp.toml');
  writeFileSync(
    config,
    `[[webhooks]]\nurl = "${hook.url}"\nsecret = "s"\n[[budgets]]\non = { key = "local" }\nperiod = "day"\nlimit_requests = 2\n`,
  );
  const first = await startServe(join(parent, 'home'), { ABP_CONFIG: config });
  await post(`${first.url}/e/sim/v1/messages`, ask('hello'));
  await expect.poll(() => hook.posts.length).toBeGreaterThan(0);
  await first.end('SIGKILL');
  hook.answer(200);
  const before = hook.posts.length;
  const second = await startServe(join(parent, 'home'), { ABP_CONFIG: config });
  await expect.poll(() => hook.posts.length).toBeGreaterThan(before);
  const again = hook.posts.at(-1) ?? expect.fail();
  expect(again.headers['webhook-id']).toBe(hook.posts[0]?.headers['webhook-id']);
  await second.end('SIGTERM');
  const delivered = hook.posts.length;
  const third = await startServe(join(parent, 'home'), { ABP_CONFIG: config });
  await post(`${third.url}/e/sim/v1/messages`, ask('hello'));
  await expect
    .poll(() =>
      told(hook)
        .slice(delivered)
        .map(({ event, percent }) => `${event} ${percent}`)
        .sort(),
    )
    .toEqual(['budget.reached 100', 'budget.threshold 100']);
  await third.end('SIGTERM');
});

it('a server that is killed with calls on their way tells every threshold that their receipts reach', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-webhooks-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const hook = await startReceiver();
  const config = join(parent, 'abp.toml');
  writeFileSync(config, `[[webhooks]]\nurl = "${hook.url}"\n[[budgets]]\non = { key = "local" }\nperiod = "month"\nlimit_requests = 40\n`);
  const home = join(parent, 'home');
  for (let round = 0; round < 8; round += 1) {
    const server = await startServe(home, { ABP_CONFIG: config });
    await Promise.all(Array.from({ length: 5 }, () => post(`${server.url}/e/sim/v1/messages`, ask('hello'))));
    await server.end('SIGKILL');
  }
  const last = await startServe(home, { ABP_CONFIG: config });
  await expect.poll(() => told(hook).map(({ event, percent }) => `${event} ${percent}`)).toContain('budget.reached 100');
  const ids = told(hook).map(({ event, percent }) => `${event} ${percent}`);
  expect(new Set(ids).size).toBe(new Set(hook.posts.map(({ headers }) => headers['webhook-id'])).size);
  expect((await call(`${last.url}/readyz`)).status).toBe(200);
  await last.end('SIGTERM');
});
