import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
    const databaseUrl = await postgres.freshDatabase();
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
    await expect.poll(() => other.gateway.budgets.ledger.accounts.has(id)).toBe(true);
    return { secret: key.secret, id };
  }

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
