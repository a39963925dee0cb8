import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Forecast, RunRow, Usage } from '../../src/gateway/api/run-rows.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let server: TestGateway;

async function call(path: string, text: string, more: object = {}, headers: Record<string, string> = {}): Promise<void> {
  const body = { model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content: text }], ...more };
  const answer = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
}

async function rows(query: string): Promise<RunRow[]> {
  const answer = await fetch(`${server.url}/v1/runs?view=row&${query}`);
  const { items } = (await answer.json()) as { items: RunRow[] };
  return items;
}

beforeAll(async () => {
  server = await startGateway();
  await call('/e/sim/v1/messages', 'say hello');
  await call('/e/sim:gemini/v1/messages', 'say hello to the mapper', { metadata: { user_id: 'u' } });
  await call('/e/sim/v1/messages', 'fail with 500');
  await server.gateway.keeper.settled();
});
afterAll(() => server.close());

describe('GET /v1/runs?view=row', () => {
  it('has the shape of its schema, newest first, and stays small', async () => {
    const found = await rows('limit=10');
    expect(found).toHaveLength(3);
    for (const row of found) RunRow.parse(row);
    expect(found.map(({ status }) => status)).toEqual(['failed', 'completed', 'completed']);
    expect(Math.max(...found.map((row) => JSON.stringify(row).length))).toBeLessThan(900);
  });

  it.each([
    ['fate=dropped', 1],
    ['mode=passthrough', 2],
    ['status=failed', 1],
    ['q=HELLO', 0],
    ['q=sonnet', 3],
    ['min_ms=100000', 0],
    ['engine=sim&mode=mapped', 1],
    [`since=${encodeURIComponent(new Date(Date.now() + 3_600_000).toISOString())}`, 0],
  ])('filters by %s', async (query, many) => {
    expect(await rows(query)).toHaveLength(many);
  });

  it('finds a run by any three digits of its id', async () => {
    const [row] = await rows('limit=1');
    expect((await rows(`q=${row?.run_id.slice(-6)}`)).map(({ run_id }) => run_id)).toEqual([row?.run_id]);
  });

  it('goes on where a page ended', async () => {
    const first = (await (await fetch(`${server.url}/v1/runs?view=row&limit=2`)).json()) as { items: RunRow[]; next_cursor: string };
    const second = await rows(`limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...second].map(({ run_id }) => run_id)).toEqual((await rows('limit=10')).map(({ run_id }) => run_id));
  });
});

describe('GET /v1/usage', () => {
  it('adds up what the rows say', async () => {
    const usage = Usage.parse(await (await fetch(`${server.url}/v1/usage?group_by=mode&metric=runs,tokens,cost,first_byte`)).json());
    const byMode = Object.fromEntries(usage.groups.map((group) => [group.key.mode, group]));
    expect(byMode.passthrough?.runs).toEqual([2]);
    expect(byMode.mapped?.runs).toEqual([1]);
    const all = await rows('limit=10');
    expect(usage.groups.reduce((sum, { tokens_in }) => sum + (tokens_in?.[0] ?? 0), 0)).toBe(
      all.reduce((sum, { tokens }) => sum + (tokens?.in ?? 0), 0),
    );
  });

  it('puts each call into its minute', async () => {
    const usage = Usage.parse(await (await fetch(`${server.url}/v1/usage?bucket=1m&metric=runs`)).json());
    expect(usage.buckets.length).toBeGreaterThan(1400);
    expect(usage.groups[0]?.runs?.reduce((a, b) => a + b, 0)).toBe(3);
  });

  it('refuses more buckets than anybody reads', async () => {
    const since = encodeURIComponent(new Date(Date.now() - 30 * 24 * 3_600_000).toISOString());
    expect((await fetch(`${server.url}/v1/usage?bucket=1m&since=${since}`)).status).toBe(400);
  });
});

it('GET /v1/runs/stream tells of a run when it ends', async () => {
  const stop = new AbortController();
  const answer = await fetch(`${server.url}/v1/runs/stream`, { signal: stop.signal });
  const text = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let heard = '';
  const until = async (word: string): Promise<void> => {
    while (!heard.includes(word)) heard += (await text?.read())?.value ?? '';
  };
  await until('event: open');
  await call('/e/sim/v1/messages', 'say something new');
  await until('event: run.ended');
  const line = /event: run\.ended\ndata: (.*)\n/.exec(heard.slice(heard.indexOf('event: run.ended')))?.[1] ?? '{}';
  expect(RunRow.parse(JSON.parse(line))).toMatchObject({ status: 'completed', engine: 'sim' });
  stop.abort();
});

describe('GET /v1/usage/forecast', () => {
  const ask = async (query: string): Promise<Response> => await fetch(`${server.url}/v1/usage/forecast?engine=sim&${query}`);

  it('prices the same tokens elsewhere and says what recorded requests would lose there', async () => {
    const found = Forecast.parse(await (await ask('to=gemini/gemini-2.5-pro,claude/claude-sonnet-4-5')).json());
    expect(found).toMatchObject({ calls: 4, unpriced: 3, cost_nano_usd: 0, tried: 4 });
    const [gemini, claude] = found.items;
    expect(gemini).toMatchObject({ engine: 'gemini', model: 'gemini-2.5-pro', refused: 0, mapped: 4 });
    expect(gemini?.losses).toMatchObject([{ path: 'metadata.user_id', fate: 'dropped', calls: 1 }]);
    expect(claude).toMatchObject({ refused: 0, mapped: 0, losses: [] });
    // List prices of a million tokens: $1.25 in and $10 out on Gemini, $3 and $15 on Claude.
    expect(gemini?.cost_nano_usd).toBe(found.tokens_in * 1250 + found.tokens_out * 10_000);
    expect(claude?.uncached_nano_usd).toBe(found.tokens_in * 3000 + found.tokens_out * 15_000);
  });

  it('does not price a model that nobody has a price of', async () => {
    const { items } = Forecast.parse(await (await ask('to=ollama/qwen3-coder')).json());
    expect(items).toMatchObject([{ cost_nano_usd: null, uncached_nano_usd: null }]);
  });

  it.each([
    ['to=nobody/gpt-4o', 404, 'nobody'],
    ['to=gemini', 400, 'engine and a model'],
    [`to=${Array(7).fill('sim/x').join(',')}`, 400, 'to'],
  ])('refuses %s', async (query, status, words) => {
    const answer = await ask(query);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(words);
  });
});

it('unkeyed=true finds runs without a key alone, in the list, among receipts and in the sums', async () => {
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  const made = await fetch(`${server.url}/v1/keys`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'somebody', scopes: { planes: ['gateway'] } }),
  });
  const { id, secret } = (await made.json()) as { id: string; secret: string };
  await call('/e/sim/v1/messages', 'say hello with a key', {}, { 'x-abp-key': secret });
  await server.gateway.keeper.settled();
  const get = async (path: string): Promise<unknown> => await (await fetch(`${server.url}${path}`, { headers })).json();
  const keysOf = async (query: string): Promise<(string | null)[]> =>
    ((await get(`/v1/${query}`)) as { items: RunRow[] }).items.map(({ key_id }) => key_id);
  expect(await keysOf('runs?view=row')).toEqual([id, null, null, null, null]);
  expect(await keysOf('runs?view=row&unkeyed=true')).toEqual([null, null, null, null]);
  expect(await keysOf('receipts?view=row&unkeyed=true&engine=sim')).toEqual([null, null, null, null]);
  const usage = Usage.parse(await get('/v1/usage?unkeyed=true&group_by=key&metric=runs'));
  expect(usage.groups.map(({ key, runs }) => [key.key, runs])).toEqual([[null, [4]]]);
});

it('GET /v1/runs/stream goes on after a place that its reader names, page by page', async () => {
  const heardAfter = async (after: string, word: string): Promise<string[]> => {
    const stop = new AbortController();
    const answer = await fetch(`${server.url}/v1/runs/stream?after=${after}`, { signal: stop.signal });
    const text = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    while (!heard.includes(word)) heard += (await text?.read())?.value ?? '';
    stop.abort();
    return [...heard.matchAll(/^id: (.*)\nevent: run\.ended/gm)].map(([, id]) => String(id));
  };
  await Promise.all(Array.from({ length: 230 }, (_, at) => call('/e/sim/v1/messages', `say ${at}`)));
  await call('/e/sim/v1/messages', 'say the last one');
  await server.gateway.keeper.settled();
  const [newest] = await rows('limit=1');
  const run = String(newest?.run_id);
  const all = await heardAfter('0', run);
  expect(all.length).toBeGreaterThan(231);
  expect(await heardAfter(String(all.at(-232)), run)).toEqual(all.slice(-231));
});
