import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post, send, type WireAnswer } from '../support/http-call.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';
import { ANSWER, adminCall } from './priced-engine.ts';

let upstream: RecordingUpstream;
let server: TestGateway;
let sent: number;
/** Nobody listens there. */
const CLOSED = 'http://127.0.0.1:1';

beforeAll(async () => {
  upstream = await startUpstream();
  const routes = [
    { match: 'again', to: 'claude/claude-sonnet-4-5', attempts: 2 },
    { match: 'elsewhere', to: 'claude/claude-sonnet-4-5', fallback: ['groq/llama-3.3-70b-versatile', 'openai/gpt-4o'] },
  ];
  const engines = { claude: { url: upstream.url, key: 'k' }, openai: { url: upstream.url, key: 'k' }, groq: { url: CLOSED, key: 'k' } };
  server = await startGateway({ engines, config: { auth: { local: false }, routes } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});
beforeEach(() => {
  sent = 0;
  upstream.answer((socket) => {
    sent += 1;
    socket.write(whole(JSON.stringify(ANSWER)));
  });
});

const admin = (method: string, path: string, body?: object): Promise<WireAnswer> => adminCall(server, method, path, body);

interface MadeKey {
  readonly id: string;
  readonly secret: string;
  readonly limits: object;
}

async function keyWith(limits: object): Promise<MadeKey> {
  const answer = await admin('POST', '/v1/keys', { name: 'held', scopes: { raw: true, planes: ['gateway', 'agent'] }, limits });
  expect(answer.status).toBe(201);
  return JSON.parse(String(answer.body));
}

const CLAUDE = { model: 'claude-sonnet-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] };
const CHAT = { model: 'claude-sonnet-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] };
const CHAT_ANSWER = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
const GEMINI = { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 20 } };

/** Every way on which a caller reaches the engine, and the vendor's own words for a limit. */
const WAYS: readonly [string, string, object, object][] = [
  ['relayed', '/e/claude/v1/messages', CLAUDE, { type: 'rate_limit_error' }],
  ['mapped from Chat', '/e/claude/v1/chat/completions', CHAT, { type: 'requests' }],
  ['mapped from Kimi', '/e/claude/kimi/v1/chat/completions', CHAT, { type: 'rate_limit_reached_error' }],
  ['mapped from Gemini', '/e/claude/v1beta/models/claude-sonnet-4-5:generateContent', GEMINI, { status: 'RESOURCE_EXHAUSTED' }],
  ['raw', '/e/claude/v1/messages/batches', { requests: [] }, {}],
];

const errorIn = ({ body }: WireAnswer) => JSON.parse(String(body)).error;

describe('a key with a limit of requests', () => {
  it.each(WAYS)('is told when to come back, in the shape of its SDK, and nothing reaches the engine: %s', async (_, path, body, words) => {
    const { secret } = await keyWith({ requests_per_minute: 2 });
    const answers: WireAnswer[] = [];
    for (let at = 0; at < 3; at += 1) answers.push(await post(`${server.url}${path}`, body, ['x-abp-key', secret]));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(sent).toBe(2);
    const last = answers[2] as WireAnswer; // three were made
    expect(Number(last.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(last.headers['retry-after'])).toBeLessThanOrEqual(30);
    expect(last.headers).toMatchObject({ 'x-ratelimit-limit-requests': '2', 'x-ratelimit-remaining-requests': '0' });
    const own = last.headers['anthropic-ratelimit-requests-limit'];
    expect(own).toBe(path.startsWith('/e/claude/v1/messages') ? '2' : undefined);
    if (own === undefined) return;
    expect(last.headers['anthropic-ratelimit-requests-remaining']).toBe('0');
    const resets = Date.parse(String(last.headers['anthropic-ratelimit-requests-reset']));
    expect(Math.abs(resets - Date.now() - Number(last.headers['retry-after']) * 1000)).toBeLessThan(5000);
    expect(errorIn(last)).toMatchObject({ code: 'rate_limited', details: { limit: 'requests_per_minute', allowed: 2 }, ...words });
  });

  it.each([
    ['tried again', 'again'],
    ['that another engine takes', 'elsewhere'],
  ])('counts a call %s once', async (_, model) => {
    const { secret } = await keyWith({ requests_per_minute: 2 });
    const ask = async (): Promise<number> =>
      (await post(`${server.url}/v1/chat/completions`, { ...CHAT, model }, ['x-abp-key', secret])).status;
    upstream.answer((socket, { line }) => {
      sent += 1;
      const said = line.includes('/chat/') ? whole(JSON.stringify(CHAT_ANSWER)) : whole(JSON.stringify(ANSWER));
      socket.write(sent % 2 === 1 ? whole('{}', { status: '529 Busy' }) : said);
    });
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
    expect(sent).toBe(4);
  });

  it('does not limit another key', async () => {
    const [one, other] = [await keyWith({ requests_per_minute: 1 }), await keyWith({})];
    const ask = async ({ secret }: MadeKey): Promise<number> =>
      (await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status;
    expect([await ask(one), await ask(one), await ask(other), await ask(other)]).toEqual([200, 429, 200, 200]);
  });

  it('holds for calls that come at once', async () => {
    const { secret } = await keyWith({ requests_per_minute: 50 });
    const asks = Array.from({ length: 200 }, () => post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret]));
    const statuses = (await Promise.all(asks)).map(({ status }) => status);
    // One more may have run off while they came.
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(60);
    expect(statuses.filter((status) => status === 200)).toHaveLength(sent);
    expect(sent).toBeGreaterThanOrEqual(50);
  });
});

describe('a key with a limit of tokens', () => {
  it('reserves what a request may use, and counts what it has used', async () => {
    const { secret } = await keyWith({ tokens_per_minute: 1000 });
    const ask = (most: number): Promise<WireAnswer> =>
      post(`${server.url}/e/claude/v1/messages`, { ...CLAUDE, max_tokens: most }, ['x-abp-key', secret]);
    // Each uses 50, however much it was allowed.
    expect([(await ask(900)).status, (await ask(800)).status]).toEqual([200, 200]);
    const refused = await ask(950);
    expect([refused.status, errorIn(refused).details]).toMatchObject([429, { limit: 'tokens_per_minute', allowed: 1000 }]);
    // Too little for that call, and enough for a smaller one.
    const left = Number(refused.headers['x-ratelimit-remaining-tokens']);
    expect([left >= 900, left < 1000, errorIn(refused).details.remaining]).toEqual([true, true, left]);
    expect((await ask(800)).status).toBe(200);
  });
});

describe('a key with a limit of concurrency', () => {
  it('is refused while its calls are under way, and let in again when one has ended', async () => {
    const { secret } = await keyWith({ concurrency: 2 });
    const open: Socket[] = [];
    upstream.answer((socket) => void open.push(socket));
    const ask = (): Promise<WireAnswer> => post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret]);
    const held = [ask(), ask()];
    await expect.poll(() => open.length).toBe(2);
    const refused = await ask();
    expect(errorIn(refused)).toMatchObject({ details: { limit: 'concurrency', allowed: 2, remaining: 0 } });
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      'x-ratelimit-limit-concurrency': '2',
      'x-ratelimit-remaining-concurrency': '0',
    });
    for (const socket of open) socket.write(whole(JSON.stringify(ANSWER)));
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
    upstream.answer((socket) => void socket.write(whole(JSON.stringify(ANSWER))));
    await expect.poll(async () => (await ask()).status).toBe(200);
  });
});

describe('a place of a key with a limit of concurrency', () => {
  const place = async (): Promise<{ secret: string; id: string; isFree: () => Promise<boolean> }> => {
    const { secret, id } = await keyWith({ concurrency: 1 });
    const isFree = async (): Promise<boolean> => {
      upstream.answer((socket) => void socket.write(whole(JSON.stringify(ANSWER))));
      return (await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status === 200;
    };
    return { secret, id, isFree };
  };
  const begun = async (secret: string): Promise<{ answer: IncomingMessage; engine: Socket }> => {
    const opened: Socket[] = [];
    upstream.answer((socket) => {
      opened.push(socket);
      socket.write(chunkedHead());
      socket.write(chunk('event: ping\ndata: {"type":"ping"}\n\n'));
    });
    const headers = ['x-abp-key', secret, 'content-type', 'application/json'];
    const body = JSON.stringify({ ...CLAUDE, stream: true });
    const answer = await send(`${server.url}/e/claude/v1/messages`, { method: 'POST', headers, body });
    answer.on('error', () => undefined);
    return { answer, engine: opened[0] as Socket }; // its first bytes have come
  };

  it('is free again when the caller goes away', async () => {
    const { secret, isFree } = await place();
    const { answer } = await begun(secret);
    expect(await isFree()).toBe(false);
    answer.destroy();
    await expect.poll(isFree).toBe(true);
  });

  it('is free again when the engine resets the connection', async () => {
    const { secret, isFree } = await place();
    const { engine } = await begun(secret);
    engine.resetAndDestroy();
    await expect.poll(isFree).toBe(true);
  });

  it('stays taken while its limits change, and is free once when the call ends', async () => {
    const { secret, id, isFree } = await place();
    const { answer } = await begun(secret);
    await admin('PATCH', `/v1/keys/${id}`, { limits: { concurrency: 1, requests_per_minute: 1000 } });
    expect(await isFree()).toBe(false);
    answer.destroy();
    await expect.poll(isFree).toBe(true);
    const { answer: second } = await begun(secret);
    expect(await isFree()).toBe(false);
    second.destroy();
    await expect.poll(isFree).toBe(true);
  });

  it('is nobody’s when the key is revoked while its call is under way, and the call ends as it would have', async () => {
    const { secret, id } = await place();
    const { answer, engine } = await begun(secret);
    expect((await admin('DELETE', `/v1/keys/${id}`)).status).toBe(204);
    let ended = false;
    answer.on('data', () => undefined).on('end', () => (ended = true));
    engine.write(lastChunk());
    await expect.poll(() => ended).toBe(true);
    expect((await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', secret])).status).toBe(401);
  });
});

describe('limits of a key', () => {
  it('are shown, changed from the next call on, and vanish with the key', async () => {
    const key = await keyWith({ requests_per_minute: 1 });
    expect(key.limits).toEqual({ requests_per_minute: 1 });
    const ask = async (): Promise<number> => (await post(`${server.url}/e/claude/v1/messages`, CLAUDE, ['x-abp-key', key.secret])).status;
    expect([await ask(), await ask()]).toEqual([200, 429]);
    const changed = await admin('PATCH', `/v1/keys/${key.id}`, { limits: { requests_per_minute: 1000 } });
    expect([changed.status, JSON.parse(String(changed.body)).limits]).toEqual([200, { requests_per_minute: 1000 }]);
    expect(await ask()).toBe(200);
    const listed = JSON.parse(String((await admin('GET', '/v1/keys?limit=100')).body)).items as MadeKey[];
    expect(listed.find(({ id }) => id === key.id)?.limits).toEqual({ requests_per_minute: 1000 });
    expect((await admin('DELETE', `/v1/keys/${key.id}`)).status).toBe(204);
    expect((await admin('PATCH', `/v1/keys/${key.id}`, { limits: {} })).status).toBe(404);
    expect(server.gateway.limits.of(key.id)).toBeUndefined();
  });

  it.each([{ requests_per_minute: 0 }, { tokens_per_minute: 1.5 }, { concurrency: '3' }, { per_hour: 3 }])(
    'are whole and known: %j',
    async (limits) => {
      expect((await admin('POST', '/v1/keys', { name: 'k', limits })).status).toBe(400);
    },
  );

  it('are those of the configuration where the key has none', async () => {
    const other = await startGateway({
      engines: { claude: { url: upstream.url, key: 'k' } },
      config: { limits: { requests_per_minute: 1 } },
    });
    try {
      const ask = async (): Promise<number> => (await post(`${other.url}/e/claude/v1/messages`, CLAUDE)).status;
      expect([await ask(), await ask()]).toEqual([200, 429]);
    } finally {
      await other.close();
    }
  });
});
