import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, type Script, startUpstream, whole } from '../support/recording-upstream.ts';
import { ANSWER, adminCall, COST } from './priced-engine.ts';

const MODEL = 'claude-sonnet-4-5';
const TEXT = 'hi there, say something';
const messages = [{ role: 'user', content: TEXT }];
const CLAUDE = { model: MODEL, max_tokens: 20, messages };

/** Ways to an engine, as somebody calls them. */
const WAYS: Readonly<Record<string, readonly [path: string, body: object]>> = {
  relayed: ['/e/claude/v1/messages', CLAUDE],
  'relayed, streamed': ['/e/claude/v1/messages', { ...CLAUDE, stream: true }],
  'relayed with another model name': ['/v1/messages', { ...CLAUDE, model: `claude/${MODEL}` }],
  'mapped from Chat': ['/e/claude/v1/chat/completions', CLAUDE],
  'mapped from Chat, streamed': ['/e/claude/v1/chat/completions', { ...CLAUDE, stream: true }],
  'mapped from Responses, streamed': ['/e/claude/v1/responses', { model: MODEL, max_output_tokens: 20, input: TEXT, stream: true }],
  'mapped from Gemini': [`/e/claude/v1beta/models/${MODEL}:generateContent`, { contents: [{ role: 'user', parts: [{ text: TEXT }] }] }],
  'counted tokens': ['/e/claude/v1/messages/count_tokens', { model: MODEL, messages }],
  raw: ['/e/claude/v1/messages/batches', { requests: [] }],
  embeddings: ['/e/openai/v1/embeddings', { model: 'text-embedding-3-small', input: [TEXT, TEXT] }],
  'with a fallback': ['/v1/messages', { ...CLAUDE, model: 'falling' }],
  'with a fallback, streamed': ['/v1/messages', { ...CLAUDE, model: 'falling', stream: true }],
  'with a fallback that nobody has': ['/v1/messages', { ...CLAUDE, model: 'lonely' }],
  'with answers that are kept': ['/v1/messages', { ...CLAUDE, model: 'kept' }],
};

const EVENTS = [
  { type: 'message_start', message: { ...ANSWER, content: [], stop_reason: null, usage: { input_tokens: 30, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi, how are you today' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 20 } },
  { type: 'message_stop' },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

const isStreamed = (body: Buffer): boolean => body.includes('"stream":true');

function answered(line: string, body: Buffer): Buffer {
  if (line.includes('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [0.1] }];
    return whole(JSON.stringify({ object: 'list', data, model: 'text-embedding-3-small', usage: { prompt_tokens: 9, total_tokens: 9 } }));
  }
  if (line.includes('count_tokens')) return whole('{"input_tokens":12}');
  return isStreamed(body) ? whole(EVENTS.join(''), { headers: ['content-type: text/event-stream'] }) : whole(JSON.stringify(ANSWER));
}

const error = (status: string, type: string, more: readonly string[] = []): Script => {
  const text = JSON.stringify({ type: 'error', error: { type, message: 'no' } });
  return (socket) => void socket.write(whole(text, { status, headers: ['content-type: application/json', ...more] }));
};

/** How an engine may answer. */
const ENGINES: Readonly<Record<string, Script>> = {
  well: (socket, { line, body }) => void socket.write(answered(line, body)),
  'with 400': error('400 Bad Request', 'invalid_request_error'),
  'with 401': error('401 Unauthorized', 'authentication_error'),
  'with 403': error('403 Forbidden', 'permission_error'),
  'with 404': error('404 Not Found', 'not_found_error'),
  'with 413': error('413 Content Too Large', 'request_too_large'),
  'with 422': error('422 Unprocessable', 'invalid_request_error'),
  'with 429': error('429 Too Many Requests', 'rate_limit_error', ['retry-after: 1']),
  'with 500': error('500 Oh', 'api_error'),
  'with 503': error('503 Unavailable', 'api_error'),
  'with 529': error('529 Overloaded', 'overloaded_error'),
  'with a redirect': (socket) => void socket.write('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'),
  'by hanging up': (socket) => void socket.destroy(),
  'with half of a head': (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-ty'),
  'with nothing in it': (socket) => void socket.write(whole('')),
  'with no JSON': (socket) => void socket.write(whole('<html>')),
  'with half of it': (socket, { line, body }) => void socket.end(answered(line, body).subarray(0, -40)),
  'with a stream that breaks off': (socket, { body }) => {
    if (!isStreamed(body))
      return void socket.write(chunkedHead(['content-type: application/json']) + chunk('{"id":"m"'), () => socket.destroy());
    socket.write(chunkedHead() + chunk(EVENTS.slice(0, 3).join('')), () => socket.destroy());
  },
  'with a stream that ends too early': (socket) => void socket.write(chunkedHead() + chunk(EVENTS.slice(0, 3).join('')) + lastChunk()),
  'with an error in its stream': (socket) =>
    void socket.write(
      chunkedHead() +
        chunk(`${EVENTS.slice(0, 3).join('')}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"no"}}\n\n`) +
        lastChunk(),
    ),
  'after a word, and then not at all': (socket, { body }) =>
    void socket.write(chunkedHead() + (isStreamed(body) ? chunk(EVENTS.slice(0, 3).join('')) : '')),
  'not at all': () => undefined,
};
/** Their callers do not wait for ever. */
const ENDLESS = ['after a word, and then not at all', 'not at all'];

interface Cell {
  readonly way: string;
  readonly engine: string;
  readonly leaves: boolean;
}

const CELLS: readonly Cell[] = Object.keys(WAYS).flatMap((way) =>
  Object.keys(ENGINES).map((engine) => ({ way, engine, leaves: ENDLESS.includes(engine) })),
);

/** Each cell has a tag of its own, and the tag a budget. */
const tagOf = (cell: Cell): string => `cell-${CELLS.indexOf(cell)}`;
const LIMITS = { limit_nano_usd: 1e12, limit_tokens: 1e9, limit_requests: 1000 };

type Amounts = Readonly<Record<'nano_usd' | 'tokens' | 'requests', number>>;
interface Told {
  readonly spent: Amounts;
  readonly reserved: Amounts;
}

const NOTHING: Amounts = { nano_usd: 0, tokens: 0, requests: 0 };

describe('however a call ends, its budget has settled what its receipt says', () => {
  let upstream: RecordingUpstream;
  let folder: string;
  let server: TestGateway;
  let live: ReadonlyMap<Cell, Told>;
  let kept: ReadonlyMap<Cell, Told>;

  const start = (): Promise<TestGateway> =>
    startGateway({
      home: join(folder, 'home'),
      engines: {
        claude: { url: upstream.url, key: 'k' },
        openai: { url: upstream.url, key: 'k' },
        groq: { url: 'http://127.0.0.1:1', key: 'k' },
      },
      config: {
        budgets: CELLS.map((cell) => ({ on: { tag: tagOf(cell) }, period: 'total', ...LIMITS })),
        routes: [
          { match: 'falling', to: `claude/${MODEL}`, fallback: ['openai/gpt-4o'] },
          { match: 'lonely', to: `claude/${MODEL}`, fallback: ['groq/llama-3.3-70b-versatile'] },
          { match: 'kept', to: `claude/${MODEL}`, cache: { ttl_s: 600 } },
        ],
      },
    });
  const tell = async (): Promise<ReadonlyMap<Cell, Told>> => {
    const { items } = JSON.parse(String((await adminCall(server, 'GET', '/v1/budgets')).body));
    const byTag = new Map<string, Told>(items.map((item: Told & { on: { tag: string } }) => [item.on.tag, item]));
    return new Map(CELLS.map((cell) => [cell, byTag.get(tagOf(cell)) ?? expect.fail()]));
  };

  async function ask(cell: Cell): Promise<void> {
    const [path, said] = WAYS[cell.way] ?? expect.fail();
    // No two cells ask the same, so that none gets an answer that was kept of another one.
    const body = 'max_tokens' in said ? { ...said, max_tokens: 20 + CELLS.indexOf(cell) } : said;
    const url = `${server.url}${path}`;
    if (!cell.leaves) {
      // Twice: of answers that are kept the second one comes from the cache.
      for (let times = 0; times < 2; times += 1) await post(url, body, ['x-abp-tags', tagOf(cell)]);
      return;
    }
    const { hostname, port, host } = new URL(url);
    const before = upstream.requests.length;
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    const text = JSON.stringify(body);
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nx-abp-tags: ${tagOf(cell)}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    );
    await vi.waitFor(() => expect(upstream.requests.length).toBeGreaterThan(before), 60_000);
    await new Promise((resolve) => setTimeout(resolve, 30));
    socket.destroy();
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'abp-ends-'));
    upstream = await startUpstream();
    server = await start();
    for (const [name, script] of Object.entries(ENGINES)) {
      upstream.answer(script);
      const cells = CELLS.filter(({ engine }) => engine === name);
      await Promise.all(cells.filter(({ leaves }) => !leaves).map(ask));
      // These look for what reaches the engine.
      for (const cell of cells.filter(({ leaves }) => leaves)) await ask(cell);
    }
    const reserved = async (): Promise<number> => [...(await tell()).values()].reduce((sum, { reserved: r }) => sum + r.requests, 0);
    await vi.waitFor(async () => expect(await reserved()).toBe(0), 60_000);
    live = await tell();
    await server.close();
    server = await start();
    kept = await tell();
  }, 600_000);
  afterAll(async () => {
    await server?.close();
    await upstream?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['relayed', 'well', { nano_usd: 2 * COST, tokens: 100, requests: 2 }],
    ['with answers that are kept', 'well', { nano_usd: COST, tokens: 50, requests: 2 }],
    [
      'mapped from Chat, streamed',
      'with a stream that breaks off',
      { nano_usd: expect.any(Number), tokens: expect.any(Number), requests: 2 },
    ],
    ['with a fallback that nobody has', 'with 500', { ...NOTHING, requests: 2 }],
  ])('%s, answered %s: what was used', (way, engine, used) => {
    const [, told] = [...live].find(([cell]) => cell.way === way && cell.engine === engine) ?? expect.fail();
    expect(told.spent).toEqual(used);
  });

  it.each(CELLS)('$way, answered $engine', (cell) => {
    const [now, then] = [live.get(cell), kept.get(cell)];
    expect(now?.reserved).toEqual(NOTHING);
    expect(now?.spent).toEqual(then?.spent);
  });
});
