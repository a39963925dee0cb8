import { afterAll, beforeAll, expect, it } from 'vitest';
import { newRunId } from '../../src/contract/run-id.ts';
import { runPort } from '../../src/gateway/run-plane/run-port.ts';
import { AgentApi } from '../support/agent-api.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';

// What goes on in the name of a key without its secret: the calls of a run of a coding agent, and those of a turn.

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway({ config: { auth: { local: false } } });
});
afterAll(() => server.close());

const json = ({ body }: { body: Uint8Array }) => JSON.parse(String(body));
const admin = (): string[] => ['x-abp-key', server.token];
const asAdmin = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
  body === undefined
    ? await call(`${server.url}${path}`, { method, headers: admin() })
    : await call(`${server.url}${path}`, { method, headers: [...admin(), 'content-type', 'application/json'], body: JSON.stringify(body) });

async function keyOf(body: object): Promise<{ id: string; secret: string }> {
  return json(await asAdmin('POST', '/v1/keys', { name: 'k', scopes: { planes: ['gateway', 'agent', 'run'] }, ...body }));
}

/** The ways in which a key ends while something goes on in its name. */
const ENDS: readonly (readonly [string, (key: string, user: string) => Promise<unknown>])[] = [
  ['is revoked', async (key) => await asAdmin('DELETE', `/v1/keys/${key}`)],
  ['loses its user', async (_key, user) => await asAdmin('DELETE', `/v1/users/${user}`)],
  ['is of a user who is suspended', async (_key, user) => await asAdmin('PATCH', `/v1/users/${user}`, { role: 'suspended' })],
];

it.each(ENDS)('a run of a coding agent calls nothing any more when its key %s', async (how, end) => {
  const user = how.replaceAll(' ', '-');
  await asAdmin('POST', '/v1/users', { id: user, role: 'agent-runner' });
  const key = await keyOf({ user });
  const owner = { keyId: key.id, parent: null, tags: [] };
  const secret = await runPort(server.gateway, owner).mintRunKey({
    ...{ runId: newRunId(), agent: 'claude', engine: 'sim', model: null, emulate: [], traffic: [], compatibility: 'best_effort' },
    ...{ thinking: null, tools: null, tags: [], raw: false, expiresAt: Date.now() + 3_600_000 },
  });
  const said = { model: 'sim-1', max_tokens: 50, messages: [{ role: 'user', content: 'say hi' }] };
  const asked = async (): Promise<number> => (await post(`${server.url}/e/sim/v1/messages`, said, ['x-abp-key', secret])).status;
  expect(await asked()).toBe(200);
  await end(key.id, user);
  expect(await asked()).toBe(401);
});

it.each(ENDS)('a turn calls no model any more when its key %s', async (how, end) => {
  const user = `turn-${how.replaceAll(' ', '-')}`;
  await asAdmin('POST', '/v1/users', { id: user, role: 'member' });
  const key = await keyOf({ user, scopes: { planes: ['gateway', 'agent'] } });
  const api = new AgentApi(server, ['x-abp-key', key.secret]);
  const agent = await api.agent({ capabilities: [{ capability_id: 'test_math' }] });
  const { id: session } = (await api.call('POST', '/v1/sessions', { agent_id: agent })).body;
  await api.call('POST', `/v1/sessions/${session}/messages`, {
    message: { content: 'wait 1500 ms and call the tool add with {"a": 1, "b": 2}' },
  });
  await end(key.id, user);
  const events = `${server.url}/v1/sessions/${session}/events`;
  const told = async (): Promise<string[]> =>
    json(await call(events, { headers: [...admin(), 'accept', 'application/json'] })).items.map(({ type }: { type: string }) => type);
  await expect
    .poll(async () => (await told()).some((type) => type === 'turn.failed' || type === 'turn.completed'), { timeout: 60_000 })
    .toBe(true);
  expect(await told()).toContain('turn.failed');
});
