import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { ANSWER, adminCall } from './priced-engine.ts';

let node: TestGateway;
let engine: RecordingUpstream;
let answer = '';
/** Answers wait for this. */
let go: Promise<void> = Promise.resolve();

beforeAll(async () => {
  engine = await startUpstream();
  engine.answer((socket) => void go.then(() => socket.write(whole(answer))));
  const one = { url: engine.url, key: 'k' };
  node = await startGateway({ engines: { claude: one, openai: one }, config: { auth: { local: false } } });
});
afterAll(async () => {
  await node.close();
  await engine.close();
});

const admin = async (method: string, path: string, body?: object) => JSON.parse(String((await adminCall(node, method, path, body)).body));

const hi = [{ role: 'user', content: 'hi' }];
const chat = (usage: object, more: object = {}): object => ({
  ...{ id: 'x', object: 'chat.completion', created: 1, model: 'gpt-4.1', usage, ...more },
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hi' } }],
});
const claude = (usage: object): object => ({ ...ANSWER, usage });
const [CHAT, CLAUDE] = ['/e/openai/v1/chat/completions', '/e/claude/v1/messages'];
const asked = (more: object): object => ({ model: 'claude-sonnet-4-5', max_tokens: 20, messages: hi, ...more });

/** A call that comes to more than its bytes and the limit of its answer say: what it asks, what it comes to, and a budget for ten of it. */
type Dear = readonly [name: string, request: readonly [path: string, body: object], answer: object, limits: object];

const DEAR: readonly Dear[] = [
  [
    'several answers at once',
    [CHAT, { model: 'gpt-4.1', n: 8, max_completion_tokens: 100, messages: hi }],
    chat({ prompt_tokens: 30, completion_tokens: 800, total_tokens: 830 }),
    { limit_tokens: 8300 },
  ],
  [
    'a text with more tokens than a quarter of its bytes',
    [CLAUDE, asked({ messages: [{ role: 'user', content: '的'.repeat(30_000) }] })],
    claude({ input_tokens: 45_000, output_tokens: 20 }),
    { limit_tokens: 450_200 },
  ],
  [
    'a conversation that the vendor keeps',
    ['/e/openai/v1/responses', { model: 'gpt-4.1', max_output_tokens: 20, previous_response_id: 'resp_1', input: 'hi' }],
    {
      ...{ id: 'resp_2', object: 'response', created_at: 1, model: 'gpt-4.1', status: 'completed' },
      output: [
        {
          type: 'message',
          id: 'm',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'hi', annotations: [] }],
        },
      ],
      usage: { input_tokens: 50_000, output_tokens: 20, total_tokens: 50_020 },
    },
    { limit_tokens: 500_200 },
  ],
  [
    'a cache for an hour',
    [
      CLAUDE,
      asked({
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'word '.repeat(20_000), cache_control: { type: 'ephemeral', ttl: '1h' } }] },
        ],
      }),
    ],
    claude({
      ...{ input_tokens: 10, output_tokens: 20, cache_creation_input_tokens: 25_000 },
      cache_creation: { ephemeral_1h_input_tokens: 25_000, ephemeral_5m_input_tokens: 0 },
    }),
    // 25,000 tokens at $6 per million.
    { limit_nano_usd: 1_503_300_000 },
  ],
  [
    'searches',
    [CLAUDE, asked({ tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }] })],
    claude({ input_tokens: 100, output_tokens: 20, server_tool_use: { web_search_requests: 5 } }),
    // $10 per 1,000 searches.
    { limit_nano_usd: 506_000_000 },
  ],
  [
    'a tier that costs more',
    [CHAT, { model: 'gpt-4.1', service_tier: 'priority', max_completion_tokens: 1000, messages: hi }],
    chat({ prompt_tokens: 30, completion_tokens: 1000, total_tokens: 1030 }, { service_tier: 'priority' }),
    // 1,000 tokens at $8 per million, and 1.75 times that.
    { limit_nano_usd: 141_050_000 },
  ],
];

it.each(DEAR)(
  'calls at once for %s spend a budget for ten of them by one call too much at most',
  async (_name, [path, body], said, limits) => {
    answer = JSON.stringify(said);
    const { id: key, secret } = await admin('POST', '/v1/keys', { name: 'held' });
    const { id: budget } = await admin('POST', '/v1/budgets', { on: { key }, period: 'month', ...limits });
    const { promise, resolve } = Promise.withResolvers<void>();
    go = promise;
    const before = engine.requests.length;
    const statuses: number[] = [];
    const one = async (): Promise<number> => (await post(`${node.url}${path}`, body, ['x-abp-key', secret])).status;
    const calls = Array.from({ length: 60 }, async () => void statuses.push(await one()));
    // None is answered before all have been sent or refused, so that nothing is learned meanwhile.
    await expect.poll(() => statuses.length + engine.requests.length - before).toBe(60);
    resolve();
    await Promise.all(calls);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    // What was refused at first for want of room is let in afterwards.
    await expect.poll(async () => [await one(), (await admin('GET', `/v1/budgets/${budget}`)).reserved.tokens]).toEqual([429, 0]);
    const { spent } = await admin('GET', `/v1/budgets/${budget}`);
    expect([10, 11]).toContain(spent.requests);
  },
);

describe('a number that nobody means', () => {
  const raw = async (max: string, secret: string): Promise<number> => {
    const body = `{"model":"claude-sonnet-4-5","max_tokens":${max},"messages":[{"role":"user","content":"hi"}]}`;
    const headers = { 'content-type': 'application/json', 'x-abp-key': secret };
    return (await fetch(`${node.url}/v1/messages`, { method: 'POST', headers, body })).status;
  };

  it('in a request does not use up what others share with its caller', async () => {
    answer = JSON.stringify(claude({ input_tokens: 1, output_tokens: 1 }));
    await admin('POST', '/v1/teams', { id: 'blue', limits: { tokens_per_minute: 1_000_000_000 } });
    const [{ secret: careless }, { secret: other }] = [
      await admin('POST', '/v1/keys', { name: 'careless', team: 'blue' }),
      await admin('POST', '/v1/keys', { name: 'other', team: 'blue' }),
    ];
    const { id: budget } = await admin('POST', '/v1/budgets', { on: { team: 'blue' }, period: 'month', limit_nano_usd: 2_000_000_000 });
    expect([await raw('1e308', careless), await raw('1e25', careless), await raw('20', other), await raw('20', other)]).toEqual([
      200, 200, 200, 200,
    ]);
    expect(await admin('GET', `/v1/budgets/${budget}`)).toMatchObject({
      spent: { nano_usd: 72_000, tokens: 8, requests: 4 },
      reserved: { nano_usd: 0, tokens: 0, requests: 0 },
    });
  });

  it.each([
    ['a negative one', { input_tokens: 10, output_tokens: -5 }, 10],
    ['one beyond all measure', { input_tokens: 1e308, output_tokens: 5 }, 5],
    ['more from the cache than there was', { input_tokens: -7, cache_read_input_tokens: 10, output_tokens: 5 }, 8],
  ])(
    'in an answer, %s, breaks neither the answer nor the budget, and the place of the call is free again',
    async (_name, usage, tokens) => {
      answer = JSON.stringify(claude(usage));
      const { id: key, secret } = await admin('POST', '/v1/keys', { name: 'held', limits: { concurrency: 1 } });
      const { id: budget } = await admin('POST', '/v1/budgets', { on: { key }, period: 'month', limit_nano_usd: 2_000_000_000 });
      expect([await raw('20', secret), await raw('20', secret)]).toEqual([200, 200]);
      const kept = await admin('GET', `/v1/budgets/${budget}`);
      expect([kept.spent.tokens, kept.spent.requests, kept.reserved.requests]).toEqual([2 * tokens, 2, 0]);
      expect(kept.spent.nano_usd).toBeGreaterThan(0);
    },
  );
});

it('a limit that was raised is told of again when its thresholds are reached', async () => {
  answer = JSON.stringify(ANSWER);
  const { id: key, secret } = await admin('POST', '/v1/keys', { name: 'held' });
  const { id: budget } = await admin('POST', '/v1/budgets', { on: { key }, period: 'month', limit_requests: 2 });
  const call = async (): Promise<number> => (await post(`${node.url}${CLAUDE}`, asked({}), ['x-abp-key', secret])).status;
  expect([await call(), await call(), await call()]).toEqual([200, 200, 429]);
  await admin('PATCH', `/v1/budgets/${budget}`, { limit_requests: 5 });
  expect([await call(), await call(), await call(), await call()]).toEqual([200, 200, 200, 429]);
  const told = node
    .logs()
    .split('\n')
    .filter((line) => line.includes(budget) && line.includes('budget.threshold'))
    .map((line) => JSON.parse(line));
  expect(told.map(({ percent, limits }) => [limits.requests, percent])).toEqual([
    [2, 50],
    [2, 100],
    [5, 50],
    [5, 80],
    [5, 100],
  ]);
});
