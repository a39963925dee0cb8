import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let upstream: RecordingUpstream;
let server: TestGateway;
let sent = 0;

const ANSWER = {
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [{ type: 'text', text: 'hi' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 30, output_tokens: 20 } },
};
const CLAUDE = { model: 'claude-sonnet-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] };

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.answer((socket) => {
    sent += 1;
    socket.write(whole(JSON.stringify(ANSWER)));
  });
  const limited = { url: upstream.url, key: 'k', limits: { requests_per_minute: 2 } };
  server = await startGateway({
    engines: { claude: { url: upstream.url, key: 'k' }, kimi: limited },
    config: { auth: { local: false } },
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});
beforeEach(() => {
  sent = 0;
});

function admin(method: string, path: string, body?: object): Promise<WireAnswer> {
  const headers = ['authorization', `Bearer ${server.token}`, 'content-type', 'application/json'];
  return call(`${server.url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}

const json = ({ body }: WireAnswer) => JSON.parse(String(body));

async function keyOf(holder: object): Promise<{ id: string; secret: string }> {
  const made = await admin('POST', '/v1/keys', { name: 'held', ...holder });
  expect(made.status).toBe(201);
  return json(made);
}

const ask = async ({ secret }: { secret: string }, path = '/e/claude/v1/messages'): Promise<number> =>
  (await post(`${server.url}${path}`, CLAUDE, ['x-abp-key', secret])).status;

describe('users and teams', () => {
  it('are made, shown, changed and deleted', async () => {
    const team = json(await admin('POST', '/v1/teams', { id: 'blue', limits: { concurrency: 3 } }));
    expect(team).toMatchObject({ id: 'blue', name: 'blue', limits: { concurrency: 3 }, members: [] });
    const user = json(await admin('POST', '/v1/users', { id: 'ann@example.com', name: 'Ann', teams: ['blue'] }));
    expect(user).toMatchObject({ id: 'ann@example.com', name: 'Ann', teams: ['blue'] });
    expect((await admin('POST', '/v1/users', { id: 'ann@example.com' })).status).toBe(409);
    expect((await admin('POST', '/v1/teams', { id: 'blue' })).status).toBe(409);
    expect((await admin('POST', '/v1/users', { id: 'bob', teams: ['nobody'] })).status).toBe(422);
    expect((await admin('POST', '/v1/users', { id: '../bob' })).status).toBe(400);
    const steering = await admin('POST', '/v1/users', { id: 'bob', name: 'Bob\x1b[2J' });
    expect([steering.status, String(steering.body)]).toEqual([
      400,
      expect.stringContaining('name: must not contain a NUL, a control character'),
    ]);
    expect(json(await admin('GET', '/v1/teams/blue')).members).toEqual(['ann@example.com']);
    expect(json(await admin('PATCH', '/v1/teams/blue', { name: 'Blue' }))).toMatchObject({ name: 'Blue', limits: { concurrency: 3 } });
    expect(json(await admin('PATCH', '/v1/users/ann@example.com', { teams: [] })).teams).toEqual([]);
    expect(json(await admin('GET', '/v1/users')).items).toHaveLength(1);
    expect([(await admin('DELETE', '/v1/teams/blue')).status, (await admin('DELETE', '/v1/users/ann@example.com')).status]).toEqual([
      204, 204,
    ]);
    expect([(await admin('GET', '/v1/teams/blue')).status, (await admin('DELETE', '/v1/users/ann@example.com')).status]).toEqual([
      404, 404,
    ]);
  });

  it('get an id of their name where they are given none', async () => {
    expect(json(await admin('POST', '/v1/teams', { name: 'Payments & Co.' }))).toMatchObject({
      id: 'payments-co.',
      name: 'Payments & Co.',
    });
    expect(json(await admin('POST', '/v1/users', { name: 'Eva Example' })).id).toBe('eva-example');
    expect([(await admin('POST', '/v1/teams', {})).status, (await admin('POST', '/v1/users', { name: '…' })).status]).toEqual([400, 400]);
    const ended = [await admin('DELETE', '/v1/teams/payments-co.'), await admin('DELETE', '/v1/users/eva-example')];
    expect(ended.map(({ status }) => status)).toEqual([204, 204]);
  });

  it('have keys, which are shown as theirs, may change hands, and end with their user', async () => {
    await admin('POST', '/v1/teams', { id: 'green' });
    await admin('POST', '/v1/users', { id: 'cem', teams: ['green'] });
    const key = await keyOf({ user: 'cem' });
    const team = await keyOf({ team: 'green' });
    expect([key, team]).toMatchObject([
      { user: 'cem', team: null },
      { user: null, team: 'green' },
    ]);
    expect((await admin('POST', '/v1/keys', { name: 'k', user: 'nobody' })).status).toBe(422);
    expect(json(await admin('PATCH', `/v1/keys/${team.id}`, { user: 'cem' }))).toMatchObject({ user: 'cem', team: 'green' });
    expect(json(await admin('PATCH', `/v1/keys/${team.id}`, { user: null }))).toMatchObject({ user: null, team: 'green' });
    expect([await ask(key), await ask(team)]).toEqual([200, 200]);
    expect((await admin('DELETE', '/v1/users/cem')).status).toBe(204);
    expect([await ask(key), await ask(team)]).toEqual([401, 200]);
  });

  it('are nobody else afterwards: who gets the name of a deleted user sees nothing of what that one did', async () => {
    await admin('POST', '/v1/users', { id: 'twice' });
    const before = await keyOf({ user: 'twice' });
    expect(await ask(before)).toBe(200);
    await admin('DELETE', '/v1/users/twice');
    await admin('POST', '/v1/users', { id: 'twice' });
    const after = await keyOf({ user: 'twice' });
    expect(await ask(after)).toBe(200);
    const seen = async () => json(await call(`${server.url}/v1/receipts`, { headers: ['x-abp-key', after.secret] })).items;
    await expect.poll(async () => (await seen()).map((one: { key_id: string }) => one.key_id)).toEqual([after.id]);
    const shown = json(await admin('GET', '/v1/keys')).items.find(({ id }: { id: string }) => id === before.id);
    expect(shown.user).toMatch(/^twice \(before \d{4}-/);
  });

  it('are not deleted while keys would go on without their limits, unless somebody says what becomes of those', async () => {
    await admin('POST', '/v1/teams', { id: 'held', limits: { requests_per_minute: 1000 } });
    await admin('POST', '/v1/users', { id: 'eli', teams: ['held'] });
    const [own, gone, users] = [await keyOf({ team: 'held' }), await keyOf({ team: 'held' }), await keyOf({ user: 'eli' })];
    await admin('DELETE', `/v1/keys/${gone.id}`);
    const refused = await admin('DELETE', '/v1/teams/held');
    expect([refused.status, json(refused).error]).toMatchObject([
      409,
      { code: 'conflict', details: { team: 'held', keys: [own.id], users: ['eli'] } },
    ]);
    expect(json(refused).error.message).toContain(own.id);
    expect((await admin('DELETE', '/v1/teams/held?keys=perhaps')).status).toBe(400);
    expect([await ask(own), json(await admin('GET', '/v1/teams/held')).id]).toEqual([200, 'held']);
    const usersLeft = await admin('DELETE', '/v1/teams/held?keys=revoke');
    expect([usersLeft.status, json(usersLeft).error.details, await ask(own)]).toMatchObject([409, { keys: [], users: ['eli'] }, 200]);
    await admin('PATCH', '/v1/teams/held', { limits: {} });
    expect((await admin('DELETE', '/v1/teams/held?keys=revoke')).status).toBe(204);
    expect([await ask(own), await ask(users), (await admin('GET', '/v1/teams/held')).status]).toEqual([401, 200, 404]);
    await admin('POST', '/v1/teams', { id: 'kept' });
    const kept = await keyOf({ team: 'kept' });
    expect((await admin('DELETE', '/v1/teams/kept?keys=keep')).status).toBe(204);
    const shown = json(await admin('GET', '/v1/keys')).items.find(({ id }: { id: string }) => id === kept.id);
    expect([await ask(kept), shown.team]).toEqual([200, null]);
    await admin('POST', '/v1/teams', { id: 'poor' });
    const spender = await keyOf({ team: 'poor' });
    const budget = json(await admin('POST', '/v1/budgets', { on: { team: 'poor' }, period: 'month', limit_requests: 5 }));
    const both = await admin('DELETE', '/v1/teams/poor');
    expect([both.status, json(both).error.details]).toMatchObject([409, { keys: [spender.id], budgets: [budget.id] }]);
    expect(json(both).error.message).toContain('--force');
    const budgetLeft = await admin('DELETE', '/v1/teams/poor?keys=revoke');
    expect([budgetLeft.status, json(budgetLeft).error.details, await ask(spender)]).toMatchObject([
      409,
      { keys: [], budgets: [budget.id] },
      200,
    ]);
    expect((await admin('DELETE', '/v1/teams/poor?force=true')).status).toBe(204);
    expect([await ask(spender), (await admin('GET', `/v1/budgets/${budget.id}`)).status]).toEqual([401, 404]);
    const noted = async () =>
      json(await admin('GET', '/v1/audit?limit=30'))
        .items.filter(({ action }: { action: string }) => /^(key.revoke|budget.delete|team.delete)$/.test(action))
        .map(({ action, target, outcome, details }: Record<string, unknown>) => ({ action, target, outcome, details }))
        .slice(0, 11);
    await expect.poll(noted).toMatchObject([
      { action: 'budget.delete', target: budget.id, outcome: 'done', details: { team: 'poor' } },
      { action: 'key.revoke', target: spender.id, outcome: 'done', details: { team: 'poor' } },
      { action: 'team.delete', target: 'poor', outcome: 'done', details: { query: { force: true } } },
      { action: 'team.delete', target: 'poor', outcome: 'failed', details: { query: { keys: 'revoke' } } },
      { action: 'team.delete', target: 'poor', outcome: 'failed' },
      { action: 'team.delete', target: 'kept', outcome: 'done', details: { query: { keys: 'keep' } } },
      { action: 'key.revoke', target: own.id, outcome: 'done' },
      { action: 'team.delete', target: 'held', outcome: 'done', details: { query: { keys: 'revoke' } } },
      { action: 'team.delete', target: 'held', outcome: 'failed', details: { query: { keys: 'revoke' } } },
      { action: 'team.delete', target: 'held', outcome: 'failed' },
      { action: 'key.revoke', target: gone.id, outcome: 'done' },
    ]);
  });

  it('have budgets that count all their keys, also what was spent before', async () => {
    await admin('POST', '/v1/teams', { id: 'red' });
    await admin('POST', '/v1/users', { id: 'dan', teams: ['red'] });
    const [laptop, phone, robot] = [await keyOf({ user: 'dan' }), await keyOf({ user: 'dan' }), await keyOf({ team: 'red' })];
    expect(await ask(laptop)).toBe(200);
    const user = json(await admin('POST', '/v1/budgets', { on: { user: 'dan' }, period: 'month', limit_requests: 3 }));
    const team = json(await admin('POST', '/v1/budgets', { on: { team: 'red' }, period: 'month', limit_requests: 4 }));
    expect([user.spent.requests, team.spent.requests]).toEqual([1, 1]);
    expect([await ask(phone), await ask(laptop), await ask(phone), await ask(robot), await ask(robot)]).toEqual([200, 200, 429, 200, 429]);
    expect(sent).toBe(4);
  });
});

describe('limits', () => {
  it('of a team hold its keys together, and those of its users', async () => {
    await admin('POST', '/v1/teams', { id: 'slow', limits: { requests_per_minute: 2 } });
    await admin('POST', '/v1/users', { id: 'eve', teams: ['slow'] });
    const [one, other, free] = [await keyOf({ user: 'eve' }), await keyOf({ team: 'slow' }), await keyOf({})];
    expect([await ask(one), await ask(other), await ask(one), await ask(other), await ask(free)]).toEqual([200, 200, 429, 429, 200]);
    const refused = await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', one.secret]);
    expect(json(refused).error.message).toContain('The team slow may have 2 calls a minute');
    expect((await admin('PATCH', '/v1/teams/slow', { limits: {} })).status).toBe(200);
    expect([await ask(one), await ask(other)]).toEqual([200, 200]);
  });

  it('of an engine hold all callers together', async () => {
    const [one, other] = [await keyOf({}), await keyOf({})];
    const path = '/e/kimi/v1/chat/completions';
    const statuses = [await ask(one, path), await ask(other, path), await ask(one, path), await ask(other, path)];
    expect(statuses.slice(2)).toEqual([429, 429]);
    expect(sent).toBe(2);
  });
});
