import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Call } from '../../src/calls/call.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post, type WireAnswer } from '../support/http-call.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { ANSWER, adminCall, COST } from './priced-engine.ts';

const CLAUDE = { model: 'claude-sonnet-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] };

const json = ({ body }: WireAnswer) => JSON.parse(String(body));

describe('two nodes that share a database', () => {
  let postgres: TestPostgres;
  let upstream: RecordingUpstream;
  let nodes: [TestGateway, TestGateway];
  let sent = 0;

  beforeAll(async () => {
    postgres = await startPostgres();
    upstream = await startUpstream();
    upstream.answer((socket) => {
      sent += 1;
      socket.write(whole(JSON.stringify(ANSWER)));
    });
    process.env.ABP_KEY_SECRET = 'a secret that both homes know, long enough';
    const databaseUrl = await postgres.readyDatabase();
    const options = { databaseUrl, engines: { claude: { url: upstream.url, key: 'k' } }, config: { auth: { local: false } } };
    nodes = [await startGateway(options), await startGateway(options)];
  });
  afterAll(async () => {
    for (const node of nodes ?? []) await node.close();
    delete process.env.ABP_KEY_SECRET;
    await upstream?.close();
    await postgres?.stop();
  });

  /** A key with a budget that both nodes know. */
  async function keyWith(budget: object): Promise<{ secret: string; id: string }> {
    sent = 0;
    const [one, other] = nodes;
    const key = json(await adminCall(one, 'POST', '/v1/keys', { name: 'held', scopes: { raw: true } }));
    const { id } = json(await adminCall(one, 'POST', '/v1/budgets', { on: { key: key.id }, period: 'month', ...budget }));
    expect(other.gateway.budgets.ledger.accounts.has(id)).toBe(true);
    return { secret: key.secret, id };
  }

  /** A key with limits that both nodes know. */
  async function limitedKey(limits: object): Promise<{ secret: string; id: string }> {
    const [one, other] = nodes;
    const key = json(await adminCall(one, 'POST', '/v1/keys', { name: 'limited', limits }));
    expect(other.gateway.limits.of(key.id)).toEqual(limits);
    return { secret: key.secret, id: key.id };
  }

  /** The part of its limits that a node holds a caller to. */
  const partAt = (at: 0 | 1, keyId: string) => {
    const call = { owner: { keyId, parent: null, tags: [] }, engine: 'claude' } as unknown as Call; // as much of a call as is looked at
    return nodes[at].gateway.limits.heldTo(call)[0]?.limits;
  };

  const send = async (at: number, secret: string): Promise<number> =>
    (await post(`${nodes[at % 2]?.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status;

  it('know what one of them changes as soon as it has answered: budgets, limits, people, keys and routes', async () => {
    const [one, other] = nodes;
    const change = async (method: string, path: string, body?: object) => {
      const answer = await adminCall(one, method, path, body);
      expect(answer.status).toBeLessThan(300);
      return answer.body.length === 0 ? {} : json(answer);
    };
    const user = { id: 'ann-of-both', name: 'Ann' };
    await change('POST', '/v1/teams', { id: 'both', limits: { concurrency: 7 } });
    await change('POST', '/v1/users', user);
    expect([other.gateway.people.limitsOf('both'), other.gateway.people.knows('user', user.id)]).toEqual([{ concurrency: 7 }, true]);
    const key = await change('POST', '/v1/keys', { name: 'known', team: 'both', limits: { concurrency: 5 } });
    expect(await send(1, key.secret)).toBe(200);
    expect(other.gateway.limits.of(key.id)).toEqual({ concurrency: 5 });
    await change('PATCH', `/v1/keys/${key.id}`, { limits: { concurrency: 6 } });
    expect(other.gateway.limits.of(key.id)).toEqual({ concurrency: 6 });
    const budget = await change('POST', '/v1/budgets', { on: { key: key.id }, period: 'month', limit_requests: 1 });
    expect(await send(1, key.secret)).toBe(429);
    await change('DELETE', `/v1/budgets/${budget.id}`);
    expect(await send(1, key.secret)).toBe(200);
    await change('PUT', '/v1/routes', { items: [{ match: 'both-*', to: 'sim/m' }] });
    expect(other.gateway.routes.kept.map(({ match }) => match)).toEqual(['both-*']);
    await change('PUT', '/v1/routes', { items: [] });
    await change('DELETE', `/v1/keys/${key.id}`);
    expect(await send(1, key.secret)).toBe(401);
  });

  it('hold a caller to its calls a minute together, and give all of them to the node that it calls', async () => {
    const { secret, id } = await limitedKey({ requests_per_minute: 60 });
    // Each has heard that there are two.
    await expect.poll(() => [partAt(0, id), partAt(1, id)]).toEqual([{ requests_per_minute: 30 }, { requests_per_minute: 30 }]);
    const started = performance.now();
    const first = await Promise.all(Array.from({ length: 200 }, (_, at) => send(at, secret)));
    const ok = first.filter((status) => status === 200).length;
    expect(ok).toBeGreaterThanOrEqual(50);
    // What runs off meanwhile, one a second, may be used again. A part that grows while calls come lets in more at once than the other, which
    // has used its own already, can give back: up to half as much again in the first minute. Each by itself would let 120 in.
    expect(ok).toBeLessThanOrEqual(90 + (performance.now() - started) / 1000);
    const alone = await limitedKey({ requests_per_minute: 6000 });
    expect(partAt(0, alone.id)).toEqual({ requests_per_minute: 3000 });
    const part = async (): Promise<number | undefined> => {
      await send(0, alone.secret);
      return partAt(0, alone.id)?.requests_per_minute;
    };
    await expect.poll(part, { timeout: 60_000 }).toBe(6000);
    // The other one knows before the first call comes there, and takes over when they all do.
    await expect.poll(() => partAt(1, alone.id)?.requests_per_minute, { timeout: 60_000 }).toBeLessThan(1000);
    const moved = async (): Promise<number | undefined> => {
      await send(1, alone.secret);
      return partAt(1, alone.id)?.requests_per_minute;
    };
    await expect.poll(moved, { timeout: 60_000 }).toBeGreaterThan(5000);
  });

  it('hold a caller to its calls at a time together', async () => {
    const { secret, id } = await limitedKey({ concurrency: 4 });
    const open = new Set<() => void>();
    upstream.answer((socket) => void open.add(() => socket.write(whole(JSON.stringify(ANSWER)))));
    const asked: Promise<number>[] = [];
    // Refused ones come again until the first node has all four places.
    await expect
      .poll(
        () => {
          if (open.size < 4) asked.push(send(0, secret));
          return open.size;
        },
        { timeout: 60_000 },
      )
      .toBe(4);
    await expect.poll(() => partAt(1, id)?.concurrency, { timeout: 60_000 }).toBe(0);
    expect(await send(1, secret)).toBe(429);
    for (const answer of open) answer();
    await Promise.all(asked);
    upstream.answer((socket) => {
      sent += 1;
      socket.write(whole(JSON.stringify(ANSWER)));
    });
    await expect.poll(() => send(1, secret), { timeout: 60_000 }).toBe(200);
  });

  it.each([
    ['calls', { limit_requests: 50 }, '/e/claude/v1/messages'],
    ['tokens', { limit_tokens: 50 * 50 }, '/e/claude/v1/messages'],
    ['dollars', { limit_nano_usd: 50 * COST }, '/e/claude/v1/messages'],
  ])('send no more than 51 of 200 calls for a budget of 50, and all of it is used in the end: %s', async (_, limits, path) => {
    const { secret, id } = await keyWith(limits);
    const ask = (at: number): Promise<WireAnswer> => post(`${nodes[at % 2]?.url}${path}`, CLAUDE, ['x-abp-key', secret]);
    const first = await Promise.all(Array.from({ length: 200 }, (__, at) => ask(at)));
    const ok = first.filter(({ status }) => status === 200).length;
    expect(ok).toBe(sent);
    expect(sent).toBeLessThanOrEqual(51);
    // Refused callers come again, as SDKs do, until a node says that the budget is used up.
    let last: WireAnswer[] = [];
    await expect
      .poll(async () => {
        last = [await ask(0), await ask(1)];
        return last.map(({ status, headers }) => status === 429 && headers['x-should-retry'] === 'false');
      })
      .toEqual([true, true]);
    expect(sent).toBeGreaterThanOrEqual(49);
    expect(sent).toBeLessThanOrEqual(51);
    const views = await Promise.all(nodes.map(async (node) => json(await adminCall(node, 'GET', `/v1/budgets/${id}`)).spent.requests));
    expect(views).toEqual([sent, sent]);
  });

  it.each([
    ['calls', { limit_requests: 20 }],
    ['tokens', { limit_tokens: 20 * 50 }],
  ])('let one of them spend all of a budget that the other does not use: %s', async (_, limits) => {
    const { secret } = await keyWith(limits);
    await expect.poll(async () => [await send(1, secret), sent].at(-1)).toBeGreaterThanOrEqual(20);
    await expect
      .poll(async () => (await post(`${nodes[1].url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).headers['x-should-retry'])
      .toBe('false');
    expect(sent).toBeLessThanOrEqual(21);
  });

  it('let one last call in that may use more than is left, though it uses less than it had reserved', async () => {
    const { secret, id } = await keyWith({ limit_nano_usd: 3.5 * COST });
    const [one] = nodes;
    // Each is answered once the node has asked for its part while the call was under way.
    upstream.answer(async (socket) => {
      sent += 1;
      await adminCall(one, 'GET', `/v1/budgets/${id}`);
      socket.write(whole(JSON.stringify(ANSWER)));
    });
    const statuses: number[] = [];
    for (let asked = 0; asked < 12; asked += 1) {
      statuses.push(await send(0, secret));
      await adminCall(one, 'GET', `/v1/budgets/${id}`);
    }
    upstream.answer((socket) => {
      sent += 1;
      socket.write(whole(JSON.stringify(ANSWER)));
    });
    expect(sent).toBe(4);
    expect(statuses.filter((status) => status === 200)).toHaveLength(4);
  });

  it('tell of a threshold that they reach together, though no call comes to either of them any more', async () => {
    const { secret, id } = await keyWith({ limit_requests: 10, action: 'warn' });
    const ends = Array.from({ length: 10 }, (_, at) => send(at, secret));
    expect(await Promise.all(ends)).toEqual(ends.map(() => 200));
    const percents = (node: TestGateway): number[] => {
      const lines = node.logs().split('\n');
      return lines.filter((line) => line.includes(id) && line.includes('budget.threshold')).map((line) => JSON.parse(line).percent);
    };
    for (const node of nodes) await expect.poll(() => percents(node).at(-1)).toBe(100);
  });

  it('go with the clock of their machine, forward and back, and count each hour for itself', async () => {
    const { secret } = await keyWith({ limit_requests: 4, period: 'hour' });
    const HOUR_MS = 3_600_000;
    const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 60_000;
    let clock = now;
    const watch = vi.spyOn(Date, 'now').mockImplementation(() => clock);
    /** Refused callers come again until a node says that the budget is used up. */
    const sentUntilUsedUp = async (): Promise<number> => {
      sent = 0;
      await expect
        .poll(async () => {
          const { status, headers } = await post(`${nodes[0].url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret]);
          return status === 429 && headers['x-should-retry'] === 'false';
        })
        .toBe(true);
      return sent;
    };
    try {
      expect(await sentUntilUsedUp()).toBe(4);
      clock = now + 365 * 24 * HOUR_MS;
      expect(await sentUntilUsedUp()).toBe(4);
      clock = now;
      expect(await sentUntilUsedUp()).toBe(0);
      clock = now + HOUR_MS;
      expect(await sentUntilUsedUp()).toBe(4);
      clock = now - HOUR_MS;
      expect(await sentUntilUsedUp()).toBe(4);
      clock = now;
      expect(await sentUntilUsedUp()).toBe(0);
    } finally {
      watch.mockRestore();
    }
  });

  it('spend what they were granted while the database is away, and no more', async () => {
    const { secret, id } = await keyWith({ limit_requests: 40 });
    const [one, other] = nodes;
    const ask = async (node: TestGateway): Promise<number> =>
      (await post(`${node.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status;
    expect([await ask(one), await ask(other)]).toEqual([200, 200]);
    const grantedTo = (node: TestGateway): number => node.gateway.budgets.ledger.accounts.get(id)?.page.granted?.requests ?? 0;
    await expect.poll(() => grantedTo(other)).toBeGreaterThan(1);
    await postgres.pause();
    try {
      const granted = nodes.map(grantedTo);
      expect((granted[0] ?? 0) + (granted[1] ?? 0)).toBeLessThanOrEqual(40);
      const statuses = await Promise.all(Array.from({ length: 120 }, (_, at) => ask(nodes[at % 2] as TestGateway)));
      expect(statuses.filter((status) => status === 200).length).toBe((granted[0] ?? 0) + (granted[1] ?? 0) - 2);
      expect(sent).toBeLessThanOrEqual(40);
    } finally {
      await postgres.resume();
    }
    await expect.poll(async () => [await ask(one), await ask(other), sent].at(-1)).toBe(40);
  });
});
