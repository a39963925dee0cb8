import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newRunId } from '../../src/contract/run-id.ts';
import { Config } from '../../src/gateway/config.ts';
import { Webhooks } from '../../src/gateway/webhooks/webhooks.ts';
import { closeFact, openFact } from '../support/facts.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, send } from '../support/http-call.ts';
import { readyDatabase } from '../support/postgres.ts';
import { type PostReceiver, startReceiver } from '../support/posts.ts';

const ask = (content: string) => ({ model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content }] });
const told = ({ posts }: PostReceiver) => posts.map(({ body }) => JSON.parse(body));
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

it('signs notices as Standard Webhooks says, over id, time and body', async () => {
  const hook = await startReceiver();
  const server = await startGateway({
    config: {
      webhooks: [{ url: `${hook.url}/hook`, secret: SECRET, events: ['budget.*'] }],
      budgets: [{ on: { key: 'local' }, period: 'day', limit_requests: 2 }],
    },
  });
  onTestFinished(server.close);
  for (let at = 0; at < 3; at += 1) await post(`${server.url}/e/sim/v1/messages`, ask('hello'));
  await expect
    .poll(() => told(hook).map(({ event, percent }) => `${event} ${percent}`))
    .toEqual(expect.arrayContaining(['budget.threshold 50', 'budget.threshold 100', 'budget.reached 100']));
  expect(told(hook)).toHaveLength(3);
  const [first = expect.fail()] = hook.posts;
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = first.headers;
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  expect(signature).toBe(`v1,${createHmac('sha256', key).update(`${id}.${time}.${first.body}`).digest('base64')}`);
  expect(Math.abs(Number(time) * 1000 - Date.now())).toBeLessThan(600_000);
  expect(JSON.parse(first.body)).toMatchObject({ id, event: 'budget.threshold', on: { key: 'local' }, spent: { requests: 1 } });
  expect(server.logs()).not.toContain(SECRET);
  expect(String((await call(`${server.url}/v1/settings`, { headers: ['authorization', `Bearer ${server.token}`] })).body)).not.toContain(
    SECRET,
  );
});

it('tells thresholds of budgets on the stream of runs, to callers who see everything', async () => {
  const server = await startGateway({ config: { budgets: [{ on: { key: 'local' }, period: 'day', limit_requests: 1 }] } });
  onTestFinished(server.close);
  const stream = await send(`${server.url}/v1/runs/stream`, { headers: ['authorization', `Bearer ${server.token}`] });
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => (text += chunk));
  stream.on('error', () => undefined);
  onTestFinished(() => void stream.destroy());
  await expect.poll(() => text).toContain('event: open');
  await post(`${server.url}/e/sim/v1/messages`, ask('hello'));
  await expect.poll(() => text).toContain('event: budget\n');
  const data = /event: budget\ndata: (.*)/.exec(text)?.[1] ?? '{}';
  expect(JSON.parse(data)).toMatchObject({ event: 'budget.threshold', percent: 100, on: { key: 'local' } });
});

it('delivers after a restart what had not arrived, and each occasion once', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-webhooks-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const hook = await startReceiver();
  hook.answer(503);
  const start = () =>
    startGateway({
      home: join(parent, 'home'),
      config: { webhooks: [{ url: hook.url }], budgets: [{ on: { key: 'local' }, period: 'day', limit_requests: 2 }] },
    });
  const first = await start();
  await post(`${first.url}/e/sim/v1/messages`, ask('hello'));
  await expect.poll(() => hook.posts.length).toBeGreaterThan(0);
  await first.close();
  hook.answer(200);
  const before = hook.posts.length;
  const second = await start();
  await expect.poll(() => hook.posts.length).toBe(before + 1);
  expect(hook.posts.at(-1)?.headers['webhook-id']).toBe(hook.posts[0]?.headers['webhook-id']);
  await post(`${second.url}/e/sim/v1/messages`, ask('hello'));
  const since = () =>
    told(hook)
      .slice(before + 1)
      .map(({ event, percent }) => `${event} ${percent}`);
  await expect.poll(() => since().toSorted()).toEqual(['budget.reached 100', 'budget.threshold 100']);
  await second.close();
});

it('tries again with pauses, gives up at the last, and keeps nobody waiting', async () => {
  const hook = await startReceiver();
  hook.answer(500);
  const server = await startGateway();
  onTestFinished(server.close);
  const { store, log, home } = server.gateway;
  const clean = (text: string): string => text;
  const { webhooks: hooks } = Config.parse({ webhooks: [{ url: hook.url, events: ['engine.down'] }] });
  const webhooks = new Webhooks({ store, log, node: home.nodeId, hooks, clean, retries: [1, 1] });
  onTestFinished(() => webhooks.close());
  webhooks.open();
  webhooks.tell({ event: 'engine.down', topic: 'one', members: { engine: 'claude' } });
  webhooks.tell({ event: 'engine.down', topic: 'one', members: { engine: 'claude' } });
  webhooks.tell({ event: 'engine.up', topic: 'other', members: {} });
  await expect.poll(() => webhooks.tries.get('given_up')).toBe(1);
  expect(hook.posts).toHaveLength(3);
  expect(new Set(hook.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(webhooks.tries.get('failed')).toBe(2);
});

it('tells of engines that go down, and of turns that fail', async () => {
  const hook = await startReceiver();
  const server = await startGateway({
    engines: { claude: { url: 'http://127.0.0.1:9', key: 'k', breaker: { failures: 1, open_s: 30 } } },
    config: { webhooks: [{ url: hook.url, events: ['engine.down', 'turn.failed'] }] },
  });
  onTestFinished(server.close);
  await post(`${server.url}/e/claude/v1/messages`, ask('hello'));
  await expect.poll(() => told(hook).map(({ event }) => event)).toContain('engine.down');
  expect(told(hook)[0]).toMatchObject({ engine: 'claude', failures_in_a_row: 1 });
  const json = async (path: string, body: object) => JSON.parse(String((await post(`${server.url}${path}`, body)).body));
  const agent = await json('/v1/agents', { name: 'Nora', system_prompt: '', model: 'sim/sim-1' });
  const session = await json('/v1/sessions', { agent_id: agent.id });
  const { run_id: run } = await json(`/v1/sessions/${session.id}/messages`, {
    message: { content: [{ type: 'text', text: 'fail with 400' }] },
  });
  await expect.poll(() => told(hook).map(({ event }) => event)).toContain('turn.failed');
  expect(told(hook).find(({ event }) => event === 'turn.failed')).toMatchObject({ run_id: run, backend: `agent:${agent.id}` });
});

it('tells of questions of agents and of the answers, without the words of the conversation', async () => {
  const hook = await startReceiver();
  const server = await startGateway({ config: { webhooks: [{ url: hook.url, events: ['approval.*'] }] } });
  onTestFinished(server.close);
  const json = async (path: string, body: object) => JSON.parse(String((await post(`${server.url}${path}`, body)).body));
  const launch = {
    type: 'typescript',
    name: 'launch',
    description: 'Launches.',
    parameters: { type: 'object', properties: { target: { type: 'string' } } },
    policy: 'requires_approval',
    source: 'export default () => ({});',
  };
  await json('/v1/capabilities', { id: 'danger', name: 'Danger', description: 'Must be approved.', tools: [launch] });
  const agent = await json('/v1/agents', { name: 'Nora', system_prompt: '', model: 'sim/sim-1', capabilities: ['danger'] });
  const session = await json('/v1/sessions', { agent_id: agent.id });
  const words = 'call the tool launch with {"target": "moon"}';
  await json(`/v1/sessions/${session.id}/messages`, { message: { content: [{ type: 'text', text: words }] } });
  await expect.poll(() => told(hook).map(({ event }) => event)).toEqual(['approval.requested']);
  const [asked] = told(hook);
  expect(asked).toMatchObject({ kind: 'approval', session_id: session.id, agent: 'Nora', tool: 'launch', answer: { method: 'POST' } });
  await json(asked.answer.path, { decision: 'deny' });
  await expect.poll(() => told(hook).map(({ event }) => event)).toEqual(['approval.requested', 'approval.answered']);
  expect(told(hook)[1]).toMatchObject({ interaction: asked.interaction, decision: 'denied' });
  expect(hook.posts.map(({ body }) => body).join()).not.toContain('moon');
});

it('tells of runs that failed while nobody could be told, at the next start', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-webhooks-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const hook = await startReceiver();
  const start = (webhooks: { url: string; events: ['run.failed'] }[]) => startGateway({ home: join(parent, 'home'), config: { webhooks } });
  const failed = (server: TestGateway): string => {
    const run = newRunId();
    const at = Date.now();
    server.gateway.keeper.append(openFact({ run, at, plane: 'run', backend: 'adapter:claude', mode: null, dialect: null }));
    const error = { code: 'internal', message: 'it broke' };
    server.gateway.keeper.append(closeFact({ run, at, status: 'failed', reason: 'crashed', error, response: null, attempts: [] }));
    return run;
  };
  const hooks = [{ url: hook.url, events: ['run.failed'] as ['run.failed'] }];
  const first = await start(hooks);
  const live = failed(first);
  await expect.poll(() => told(hook).map(({ run_id: run }) => run)).toEqual([live]);
  expect(told(hook)[0]).toMatchObject({ event: 'run.failed', backend: 'adapter:claude', error: { code: 'internal', message: 'it broke' } });
  // A server that closes before it has read the receiver's answer leaves the notice to the next one.
  await expect.poll(() => first.gateway.webhooks.tries.get('delivered')).toBe(1);
  await first.close();
  const deaf = await start([]);
  const unheard = failed(deaf);
  await deaf.close();
  const third = await start(hooks);
  await expect.poll(() => told(hook).map(({ run_id: run }) => run)).toEqual([live, unheard]);
  await third.close();
});

it('of two nodes on one database one tells, and each can deliver', async () => {
  const databaseUrl = await readyDatabase();
  const hook = await startReceiver();
  const config = {
    webhooks: [{ url: hook.url }],
    budgets: [{ on: { engine: 'sim' }, period: 'day' as const, limit_requests: 4, action: 'warn' as const }],
  };
  const [one, other] = [await startGateway({ databaseUrl, config }), await startGateway({ databaseUrl, config })];
  onTestFinished(async () => {
    await one.close();
    await other.close();
  });
  await post(`${one.url}/e/sim/v1/messages`, ask('hello'));
  await post(`${other.url}/e/sim/v1/messages`, ask('hello'));
  for (const topic of ['same', 'same', 'more']) {
    for (const { gateway } of [one, other]) gateway.webhooks.tell({ event: 'engine.down', topic, members: { engine: 'claude' } });
  }
  await expect.poll(() => told(hook).filter(({ event }) => event === 'engine.down').length).toBe(2);
  await expect.poll(() => one.gateway.webhooks.waiting + other.gateway.webhooks.waiting).toBe(0);
  expect(told(hook).filter(({ event }) => event === 'engine.down')).toHaveLength(2);
});
