import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, post } from '../support/http-call.ts';
import { type MeasuredServer, startMeasured } from './measured-server.ts';
import type { Measured } from './probe.ts';

/** No input holds the event loop longer, by the processor time of its thread: a busy machine does not change that. */
const MOST_HELD_MS = 50;
/** The budget that docs/reliability.md declares: the bodies in flight (`limits.in_flight_mb`, 512 MB) and 2,048 MB for the process and its threads. */
const MOST_RSS_MB = 512 + 2048;
/** `npm run fuzz` sends everything in full size; `npm test` every third input, and smaller ones. */
const all = process.env.ABP_FUZZ === 'all';
const MIB = 1024 * 1024;
const LARGE = all ? 62 * MIB : 8 * MIB;
const some = <T>(rows: readonly T[]): readonly T[] => rows.filter((_, at) => all || at % 3 === 0);

let upstream: Server;
let server: MeasuredServer;
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
  upstream = createServer((request, response) => {
    // A caller or a limit may end the call in the middle.
    response.on('error', () => undefined);
    request.resume();
    request.on('end', () => answer(response));
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo; // a TCP server that listens has one
  const engine = (id: string): string => `[engines.${id}]\nurl = "http://127.0.0.1:${port}"\nkey = "k"\n`;
  server = await startMeasured({ config: ['claude', 'openai', 'gemini'].map(engine).join('') });
  // Code runs slowly the first times; threads start with the first large body.
  answer = plain;
  for (let round = 0; round < 3; round += 1) {
    await sent('/e/sim/v1/messages', SMALL);
    await sent('/e/openai/v1/messages', SMALL);
    await sent('/e/openai/v1/messages', { ...SMALL, tools: many(6000, (at) => ({ name: `t${at}`, input_schema: {} })) });
    await sent('/e/sim/v1/messages', { ...SMALL, messages: [{ role: 'user', content: 'hi '.repeat(150_000) }] });
  }
});
afterAll(async () => {
  if (all) process.stdout.write(`\n| input | ms of the event loop at most | MB at most |\n|---|--:|--:|\n${figures.join('\n')}\n`);
  await server.close();
  upstream.closeAllConnections();
  upstream.close();
});

const HI = [{ role: 'user', content: 'hi' }];
const SMALL = { model: 'm', max_tokens: 50, messages: HI };
const CHAT = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

const many = <T>(count: number, one: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at));
const plain = (response: ServerResponse): void => json(response, JSON.stringify(CHAT));

function json(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(text);
}

/** A stream of so many pieces, as fast as they are taken. */
function stream(response: ServerResponse, pieces: number, piece: (at: number) => string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let at = 0;
  const more = (): void => {
    while (at < pieces && !response.destroyed) {
      at += 1;
      if (response.write(piece(at))) continue;
      response.once('drain', more);
      return;
    }
    response.end();
  };
  more();
}

const sent = (path: string, body: unknown): ReturnType<typeof post> =>
  post(`${server.url}${path}`, typeof body === 'string' ? body : JSON.stringify(body));

const figures: string[] = [];

function note({ heldMs, rssMb }: Pick<Measured, 'heldMs' | 'rssMb'>): void {
  figures.push(`| ${expect.getState().currentTestName ?? ''} | ${heldMs.toFixed(1)} | ${rssMb.toFixed(0)} |`);
}

/** What a status and words an answer may have does not matter here; that it comes, and what it took, does. */
async function held(work: () => Promise<{ readonly status: number }>, statuses: readonly number[]): Promise<void> {
  let status = 0;
  const once = (): Promise<Measured> =>
    server.during(async () => {
      status = (await work()).status;
    });
  let measured = await once();
  expect(statuses).toContain(status);
  // An input that holds the loop does so every time; a collection of garbage falls into one of them.
  for (let tries = 1; tries < 3 && measured.heldMs >= MOST_HELD_MS; tries += 1) measured = await once();
  note(measured);
  expect(measured.heldMs).toBeLessThan(MOST_HELD_MS);
  expect(measured.rssMb).toBeLessThan(MOST_RSS_MB);
}

const tool = (schema: object): object => ({
  ...SMALL,
  tools: [{ name: 't', input_schema: schema }],
  tool_choice: { type: 'tool', name: 't' },
});
const filled = (before: string, piece: string, bytes: number, after: string): string =>
  before + piece.repeat(Math.floor(bytes / piece.length)) + after;

describe('the event loop is held by no request', () => {
  const requests: readonly (readonly [string, string, () => unknown, readonly number[]])[] = [
    ['of very many messages', '/e/openai/v1/messages', () => ({ ...SMALL, messages: many(8000, () => HI[0]) }), [200]],
    ['of very many numbers', '/e/openai/v1/messages', () => ({ ...SMALL, metadata: { a: many(200_000, () => 0) } }), [200, 400]],
    ['of very many numbers in a schema', '/e/openai/v1/messages', () => tool({ enum: many(100_000, () => 0) }), [200, 400]],
    [
      'of very many long numbers',
      '/e/openai/v1/messages',
      () =>
        filled(
          '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}],"metadata":{"a":[',
          '12345678901234567,',
          400_000,
          '0]}}',
        ),
      [200, 400],
    ],
    [
      'of very many tools',
      '/e/openai/v1/messages',
      () => ({ ...SMALL, tools: many(10_000, (at) => ({ name: `t${at}`, input_schema: {} })) }),
      [200],
    ],
    [
      'of very many unknown fields',
      '/e/openai/v1/messages',
      () => ({ ...SMALL, messages: [{ ...HI[0], ...Object.fromEntries(many(40_000, (at) => [`k${at}`, 0])) }] }),
      [400],
    ],
    [
      'of more values than are translated',
      '/e/openai/v1/messages',
      () => filled('{"model":"m","max_tokens":5,"messages":[', '{"role":"user","content":"a"},', LARGE, '{}]}'),
      [413],
    ],
    [
      'of many megabytes that pass',
      '/e/claude/v1/messages',
      () => filled('{"model":"m","messages":[', '{"role":"user"},', LARGE, '{}]}'),
      [200],
    ],
    ['of many megabytes of escapes', '/e/claude/v1/messages', () => filled('{"model":"m","messages":"', '\\"', LARGE, '"}'), [200]],
    ['of many megabytes of backslashes', '/e/claude/v1/messages', () => filled('{"model":"m","messages":"', '\\\\', LARGE, '"}'), [200]],
    ['of many megabytes of white space', '/e/claude/v1/messages', () => filled('{"model":"m",', ' ', LARGE, '"max_tokens":5}'), [400]],
    ['of one long name of a member', '/e/claude/v1/messages', () => filled('{"', '\\"', LARGE, '":1}'), [400]],
    ['of one long number', '/e/claude/v1/messages', () => filled('{"model":', '1', LARGE, '}'), [400]],
    ['that is deep', '/e/openai/v1/messages', () => `{"model":"m","x":${'['.repeat(100_000)}`, [400]],
    [
      'that asks sim for a text to a pattern without an end',
      '/e/sim/v1/messages',
      () => tool({ type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+b$', minLength: 24 } }, required: ['a'] }),
      [200, 502],
    ],
    [
      'that asks sim for a schema without an end',
      '/e/sim/v1/messages',
      () =>
        tool({
          $defs: { a: { type: 'object', properties: { x: { $ref: '#/$defs/a' }, y: { $ref: '#/$defs/a' } }, required: ['x', 'y'] } },
          $ref: '#/$defs/a',
        }),
      [200, 502],
    ],
    [
      'that tells sim many megabytes',
      '/e/sim/v1/messages',
      () => ({ ...SMALL, messages: [{ role: 'user', content: 'say hello and then '.repeat(LARGE / 40) }] }),
      [200],
    ],
    [
      'for a count of very many messages',
      '/e/sim/v1/messages/count_tokens',
      () => ({ model: 'm', messages: many(20_000, () => HI[0]) }),
      [200],
    ],
    [
      'for an explanation of very much',
      '/v1/explain',
      () => ({ from: 'claude', to: 'openai', request: { ...SMALL, messages: many(7000, () => HI[0]) } }),
      [200],
    ],
    [
      'for a negotiation of very much',
      '/v1/negotiate',
      () => ({
        backend: 'engine:sim',
        requirements: { required: many(16_000, () => ({ capability: 'streaming', min_support: 'native' })) },
      }),
      [400],
    ],
  ];

  it.each(some(requests))('%s', async (_, path, body, statuses) => {
    answer = plain;
    const text = body();
    await held(() => sent(path, text), statuses);
  });

  it('of all of these at once, and nobody goes over the budget of memory', async () => {
    answer = plain;
    const texts = some(requests).map(([, path, body]) => [path, body()] as const);
    const once = (): Promise<unknown> =>
      Promise.all(texts.flatMap((one) => (all ? [one, one] : [one])).map(([path, text]) => sent(path, text)));
    const { heldMs, rssMb } = await server.during(async () => {
      await once();
      await once();
    });
    note({ heldMs, rssMb });
    expect(rssMb).toBeLessThan(MOST_RSS_MB);
    // A turn of the event loop may hold pieces of several of them.
    expect(heldMs).toBeLessThan(20 * MOST_HELD_MS);
    expect((await sent('/e/sim/v1/messages', SMALL)).status).toBe(200);
  });

  it('with long headers', async () => {
    answer = plain;
    const headers = ['x-abp-require', 'streaming=native,'.repeat(3000), 'anthropic-beta', 'a,'.repeat(2000)];
    await held(() => call(`${server.url}/e/openai/v1/messages`, { method: 'POST', headers, body: JSON.stringify(SMALL) }), [200, 400]);
  });
});

const CHUNK = (delta: string): string =>
  `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":null}]}\n\n`;

/** A stream of Claude that calls the tool for JSON answers with what a pattern takes for ever to refuse. */
const CLAUDE_JSON = [
  {
    type: 'message_start',
    message: { id: 'x', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'json_answer', input: {} } },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: `{"a":"${'a'.repeat(60)}!"}` } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('');

describe('the event loop is held by no answer of an engine', () => {
  const answers: readonly (readonly [string, string, (response: ServerResponse) => void, readonly number[]])[] = [
    [
      'of very many values',
      'openai',
      (response) =>
        json(
          response,
          filled(
            '{"choices":[{"index":0,"message":{"role":"assistant","content":"a","x":[',
            '0,',
            480_000,
            '0]},"finish_reason":"stop"}]}',
          ),
        ),
      [200, 502],
    ],
    [
      'that is deep',
      'openai',
      (response) => json(response, `{"choices":[{"index":0,"message":{"content":"a","x":${'['.repeat(200_000)}${']'.repeat(200_000)}}}]}`),
      [200, 502],
    ],
    [
      'of many megabytes of values',
      'openai',
      (response) => json(response, filled('{"choices":[{"index":0,"message":{"content":"a","x":[', '0,', LARGE, '0]}}]}')),
      [200, 502],
    ],
    [
      'of many megabytes that pass',
      'claude',
      (response) => json(response, filled('{"type":"message","content":[', '{"type":"text","text":"a"},', LARGE, '{}]}')),
      [200],
    ],
    ['in tiny events', 'openai', (response) => stream(response, all ? 200 : 20, () => CHUNK('{"content":"a"}').repeat(1000)), [200]],
    ['in tiny events that pass', 'claude', (response) => stream(response, all ? 60 : 6, () => 'data: a\n\n'.repeat(10_000)), [200]],
    ['in blank lines', 'openai', (response) => stream(response, all ? 60 : 10, () => '\n'.repeat(MIB)), [200]],
    [
      'in one line without an end',
      'openai',
      (response) => stream(response, all ? 80 : 20, (at) => (at === 1 ? `data: ${'x'.repeat(MIB)}` : 'x'.repeat(MIB))),
      [200],
    ],
    [
      'in an event of very many values',
      'openai',
      (response) => stream(response, 1, () => filled('data: {"x":[', '0,', 10 * MIB, '0]}\n\n')),
      [200],
    ],
    [
      'in an event that is one large picture',
      'gemini',
      (response) =>
        stream(
          response,
          1,
          () =>
            `data: {"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"${'QUJD'.repeat(LARGE / 8)}"}}]}}]}\n\n`,
        ),
      [200],
    ],
    [
      'in an event of many words',
      'openai',
      (response) => stream(response, 1, () => CHUNK(`{"content":"${'a "b"\\n'.repeat(LARGE / 8)}"}`)),
      [200],
    ],
    [
      'in an event of the most words',
      'openai',
      (response) => stream(response, 1, () => CHUNK(`{"content":"${'words\\n '.repeat(380_000)}"}`)),
      [200],
    ],
    [
      'that passes in large events',
      'claude',
      (response) => stream(response, 1, () => `data: {"type":"x","y":"${'a\\n'.repeat(LARGE / 3)}"}\n\n`),
      [200],
    ],
    [
      'in very many tool calls',
      'openai',
      (response) =>
        stream(response, 100, (at) =>
          many(100, (nth) =>
            CHUNK(
              `{"tool_calls":[{"index":${at * 100 + nth},"id":"c${at}_${nth}","type":"function","function":{"name":"t","arguments":"{}"}}]}`,
            ),
          ).join(''),
        ),
      [200],
    ],
    [
      'with a long error',
      'openai',
      (response) => response.writeHead(500).end(JSON.stringify({ error: { message: 'a.b@c:d/'.repeat(30_000) } })),
      [500],
    ],
    [
      'with very many headers',
      'openai',
      (response) => {
        for (let at = 0; at < 1000; at += 1) response.setHeader(`x-h${at}`, 'a');
        plain(response);
      },
      [200],
    ],
  ];

  it.each(some(answers))('%s', async (_, engine, reply, statuses) => {
    answer = reply;
    const streamed = !statuses.includes(502) && !statuses.includes(500) && engine !== 'claude' ? { stream: true } : {};
    await held(() => sent(`/e/${engine}/v1/messages`, { ...SMALL, ...streamed }), statuses);
  });

  it.each([false, true])('that does not fit a schema with a pattern without an end, streamed: %s', async (streamed) => {
    const message = {
      id: 'x',
      type: 'message',
      role: 'assistant',
      model: 'm',
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const content = [{ type: 'tool_use', id: 't', name: 'json_answer', input: { a: `${'a'.repeat(60)}!` } }];
    answer = (response) => {
      if (streamed) stream(response, 1, () => CLAUDE_JSON);
      else json(response, JSON.stringify({ ...message, content: [...content, { type: 'text', text: `{"a":"${'a'.repeat(60)}!"}` }] }));
    };
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const body = {
      model: 'm',
      messages: HI,
      stream: streamed,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    };
    await held(() => sent('/e/claude/v1/chat/completions', body), [200, 502]);
  });
});
