import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { main } from '../../src/cli/main.ts';
import type { AuditRecord } from '../../src/contract/receipts/audit.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { noteConfigChange } from '../../src/gateway/audit/config-change.ts';
import type { Config } from '../../src/gateway/config.ts';
import { routes } from '../../src/gateway/routes/index.ts';
import { verifyStored } from '../../src/receipts/verify/verify-stored.ts';
import { addPending } from '../../src/store/audit/audit-pending.ts';
import { chainOf } from '../../src/store/receipts/chain.ts';
import { createRun, endRun } from '../../src/store/runs/runs.ts';
import { getSetting, setSetting } from '../../src/store/settings.ts';
import { adminCall } from '../gateway/priced-engine.ts';
import { captureIo } from '../support/capture-io.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { readyDatabase } from '../support/postgres.ts';

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

const admin = async (method: string, path: string, body?: object) => {
  const answer = await adminCall(server, method, path, body);
  return answer.status === 204 ? {} : JSON.parse(String(answer.body));
};
const audit = async (query = '') => (await admin('GET', `/v1/audit${query}`)).items;

const ask = { model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content: 'hello' }] };

describe('the audit log', () => {
  it('has a record of every change, by whom, of what, and how it ended', async () => {
    const key = await admin('POST', '/v1/keys', { name: 'ci', scopes: { planes: ['gateway'] } });
    await admin('PATCH', `/v1/keys/${key.id}`, { limits: { requests_per_minute: 5 } });
    await admin('POST', '/v1/budgets', { on: { key: 'key_nobody' }, period: 'day', limit_requests: 1 });
    await admin('DELETE', `/v1/keys/${key.id}`);
    const found = await audit();
    expect(found.map(({ action, outcome }: AuditRecord) => `${action} ${outcome}`)).toEqual([
      'key.revoke done',
      'budget.create failed',
      'key.change done',
      'key.create done',
    ]);
    expect(found[3]).toMatchObject({ by: { kind: 'token', id: null }, target: key.id, details: { body: { name: 'ci' } }, error: null });
    expect(found[2]).toMatchObject({ target: key.id, details: { body: { limits: { requests_per_minute: 5 } } } });
    expect(found[1]).toMatchObject({ target: null, error: 'unprocessable' });
    expect(JSON.stringify(found)).not.toContain(key.secret);
    const page = await admin('GET', '/v1/audit?limit=3');
    const rest = await admin('GET', `/v1/audit?limit=3&cursor=${page.next_cursor}`);
    expect([...page.items, ...rest.items]).toEqual(found);
    expect((await audit('?action=key.*')).map(({ action }: AuditRecord) => action)).toEqual(['key.revoke', 'key.change', 'key.create']);
    expect(await audit(`?since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
  });

  it('has a record of every read of somebody else’s bodies, and of no read of one’s own', async () => {
    const key = await admin('POST', '/v1/keys', { name: 'theirs', scopes: { planes: ['gateway'] } });
    const theirs = String((await post(`${server.url}/e/sim/v1/messages`, ask, ['x-abp-key', key.secret])).headers['x-abp-run-id']);
    const ours = String((await post(`${server.url}/e/sim/v1/messages`, ask)).headers['x-abp-run-id']);
    await server.gateway.keeper.settled();
    expect((await call(`${server.url}/v1/receipts/${theirs}/request`, { headers: ['x-abp-key', key.secret] })).status).toBe(200);
    expect((await adminCall(server, 'GET', `/v1/receipts/${ours}/request`)).status).toBe(200);
    expect(await audit('?action=body.read')).toEqual([]);
    expect((await adminCall(server, 'GET', `/v1/receipts/${theirs}/response`)).status).toBe(200);
    expect(await audit('?action=body.read')).toMatchObject([
      { by: { kind: 'token' }, target: theirs, details: { key: key.id, part: 'response' }, outcome: 'done' },
    ]);
  });

  it('has a record of every reader of what somebody else’s runs and sessions say, and one of a reader who reads on', async () => {
    const key = await admin('POST', '/v1/keys', { name: 'speaker', scopes: { planes: ['gateway', 'agent', 'run'] } });
    const theirs = async (path: string, body?: object) => {
      const headers = ['x-abp-key', key.secret, 'accept', 'application/json', 'content-type', 'application/json'];
      const sent = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
      return JSON.parse(String((await call(`${server.url}${path}`, sent)).body));
    };
    const agent = await theirs('/v1/agents', { name: 'Nora', system_prompt: '', model: 'sim/sim-1' });
    const session = await theirs('/v1/sessions', { agent_id: agent.id });
    const { store, home } = server.gateway;
    const run = newRunId();
    await createRun(store, { runId: run, agent: 'claude', node: home.nodeId, keyId: key.id, options: {}, createdAt: Date.now() });
    await endRun(store, run, { status: 'completed', result: { exitReason: 'completed' }, at: Date.now() });
    const paths = ['messages', 'events', 'approvals'].map((part) => `/v1/sessions/${session.id}/${part}`);
    const readers = async () => {
      const records = await audit(`?action=body.read&target=${session.id}`);
      const ofRun = await audit(`?action=body.read&target=${run}`);
      return [...records, ...ofRun].map(({ details }: AuditRecord) => `${details.part} of ${details.key}`).toSorted();
    };
    for (const path of [...paths, `/v1/runs/${run}`]) await theirs(path);
    expect(await readers()).toEqual([]);
    const token = ['x-abp-key', server.token, 'accept', 'application/json'];
    for (const path of [...paths, `/v1/runs/${run}`, `/v1/runs/${run}/events`, ...paths]) {
      expect((await call(`${server.url}${path}`, { headers: token })).status, path).toBe(200);
    }
    await admin('POST', `/v1/sessions/${session.id}/fork`, {});
    expect(await readers()).toEqual(['approvals', 'events', 'events', 'fork', 'messages', 'options'].map((part) => `${part} of ${key.id}`));
  });

  it('is signed with the chain of receipts, which verifies, and shows nothing to others', async () => {
    const io = captureIo();
    expect(await main(['--home', server.home, 'receipts', 'verify', '--all'], io)).toBe(0);
    const exported = String((await adminCall(server, 'GET', '/v1/receipts/export')).body);
    expect(exported).toContain('"kind":"audit"');
    const run = String((await post(`${server.url}/e/sim/v1/messages`, ask)).headers['x-abp-run-id']);
    await admin('POST', '/v1/teams', { id: 'blue' });
    await audit();
    const proof = String((await call(`${server.url}/v1/receipts/${run}/proof`)).body);
    expect(proof).not.toContain('"kind":"audit"');
    expect((await call(`${server.url}/v1/audit`)).status).toBe(403);
  });

  it('is shown by abp audit', async () => {
    const io = captureIo();
    expect(await main(['--home', server.home, 'audit', '--action', 'team.create'], io)).toBe(0);
    expect(io.out()).toContain('team.create');
    expect(io.out()).toContain('blue');
  });

  it('says unknown of what a killed process began', async () => {
    const { store, home } = server.gateway;
    const record = JSON.stringify({ by: { kind: 'token', id: null }, action: 'user.delete', details: {} });
    await addPending(store, { id: 'audit_0', node: home.nodeId, at: 1000, record, outcome: null, target: 'ada', error: null });
    await server.gateway.audit.open();
    expect(await audit('?action=user.delete')).toMatchObject([{ target: 'ada', outcome: 'unknown' }]);
  });

  it('tells which values of the configuration differ from those of the start before, and no secret', async () => {
    const { gateway } = server;
    await noteConfigChange(gateway);
    expect(await audit('?action=config.change')).toEqual([]);
    const engines = { ...gateway.config.engines, claude: { ...gateway.config.engines.claude, key: 'sk-new-secret' } };
    const config = { ...gateway.config, engines, limits: { ...gateway.config.limits, runs: 3 } };
    await noteConfigChange({ ...gateway, config });
    const [record] = await audit('?action=config.change');
    expect(record).toMatchObject({ by: { kind: 'system' }, details: { count: 2 } });
    expect(record.details.changes).toEqual([
      { path: 'engines.claude.key', before: null, after: expect.stringMatching(/^\([0-9a-f]{16}\)$/) },
      { path: 'limits.runs', before: '64', after: '3' },
    ]);
  });

  it('keeps no key of a deployment, neither in its records nor for the next comparison, also where a list was kept whole before', async () => {
    const { gateway } = server;
    const [first, second] = ['sk-first-of-a-deployment', 'sk-second-of-a-deployment'];
    const withKey = (key: string) => ({
      ...gateway.config,
      engines: { ...gateway.config.engines, claude: { ...gateway.config.engines.claude, deployments: [{ name: 'a', key, weight: 2 }] } },
    });
    const name = `audit.config.${gateway.home.nodeId}`;
    const kept = async (): Promise<string> => JSON.stringify(await getSetting(gateway.store, name));
    await noteConfigChange({ ...gateway, config: withKey(first) as Config });
    const before = JSON.parse(await kept());
    const list = 'engines.claude.deployments';
    const whole = Object.entries(before).filter(([path]) => !path.startsWith(list));
    const text = JSON.stringify([{ name: 'a', key: first, weight: 2 }]);
    await setSetting(gateway.store, name, Object.fromEntries([...whole, [list, text]]) as JsonObject); // texts by paths
    expect(await kept()).toContain(first);
    const records = await audit('?action=config.change');
    await noteConfigChange({ ...gateway, config: withKey(first) as Config });
    expect(await audit('?action=config.change')).toEqual(records);
    expect(await kept()).not.toContain(first);
    await noteConfigChange({ ...gateway, config: withKey(second) as Config });
    const [record] = await audit('?action=config.change');
    expect(record.details.changes.map(({ path }: { path: string }) => path)).toEqual([`${list}.0.key`]);
    expect(`${JSON.stringify(record)} ${await kept()}`).not.toMatch(/sk-(first|second)/);
  });

  it('has entries that one who changes a record cannot hide', async () => {
    const other = await startGateway();
    onTestFinished(other.close);
    await adminCall(other, 'POST', '/v1/teams', { id: 'red' });
    await adminCall(other, 'GET', '/v1/audit');
    await other.gateway.store.db
      .updateTable('chain_entries')
      .set((eb) => ({ document: eb.fn<string>('replace', ['document', eb.val('team.create'), eb.val('team.change')]) }))
      .where('kind', '=', 'audit')
      .execute();
    const io = captureIo();
    expect(await main(['--home', other.home, 'receipts', 'verify', '--all'], io)).not.toBe(0);
  });
});

it('records of two nodes on one database stand in one list, and both chains verify', async () => {
  const databaseUrl = await readyDatabase();
  const [one, other] = [await startGateway({ databaseUrl }), await startGateway({ databaseUrl })];
  onTestFinished(async () => {
    await one.close();
    await other.close();
  });
  await adminCall(one, 'POST', '/v1/teams', { id: 'red' });
  await adminCall(other, 'POST', '/v1/teams', { id: 'blue' });
  await other.gateway.audit.sealed();
  const { items } = JSON.parse(String((await adminCall(one, 'GET', '/v1/audit')).body));
  expect(items.map(({ action, target, node }: { action: string; target: string; node: string }) => [action, target, node])).toEqual([
    ['team.create', 'blue', other.gateway.home.nodeId],
    ['team.create', 'red', one.gateway.home.nodeId],
  ]);
  const { store } = one.gateway;
  for (const { home } of [one.gateway, other.gateway]) {
    expect(await verifyStored(store, await chainOf(store, home.nodeId))).toMatchObject({ ok: true });
  }
});

/** Routes that change nothing that others rely on: they ask, call, run, talk, or belong to one process. */
const UNRECORDED = new Set([
  'POST /v1/negotiate',
  'POST /v1/explain',
  'POST /v1/adapters/{id}/models/validate',
  'POST /v1/adapters/{id}/models/cost',
  'POST /v1/adapters/{id}/models/refresh',
  'POST /v1/runs',
  'POST /v1/runs/check',
  'POST /v1/agents/preview',
  'POST /v1/runs/{run_id}/cancel',
  'POST /v1/runs/{run_id}/interrupt',
  'POST /v1/runs/{run_id}/continue',
  'POST /v1/runs/{run_id}/input',
  'POST /v1/runs/{run_id}/pause',
  'POST /v1/runs/{run_id}/resume',
  'POST /v1/work-orders',
  'POST /v1/tickets',
  'POST /v1/receipts/{run_id}/replay',
]);
const UNRECORDED_GROUPS = /^\w+ \/v1\/(?:sessions(?!.*approvals)|attached-|console\/session|sign-ins\/device)/;

it('every route that changes something says how it is recorded', () => {
  const changing = routes.filter(({ method }) => method !== 'GET');
  const silent = changing.filter(({ audit }) => audit === undefined).map(({ method, path }) => `${method} ${path}`);
  expect(silent.filter((route) => !UNRECORDED.has(route) && !UNRECORDED_GROUPS.test(route))).toEqual([]);
  expect(changing.length).toBeGreaterThan(40);
});
