import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { all, filled, HI, json, LARGE, MIB, many, plain, Scene, SMALL, some, stream } from './scene.ts';

let scene: Scene;

beforeAll(async () => {
  scene = await Scene.open();
});
afterAll(async () => {
  await scene.close();
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
    scene.answers(reply);
    const streamed = !statuses.includes(502) && !statuses.includes(500) && engine !== 'claude' ? { stream: true } : {};
    await scene.held(() => scene.sent(`/e/${engine}/v1/messages`, { ...SMALL, ...streamed }), statuses);
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
    scene.answers((response) => {
      if (streamed) stream(response, 1, () => CLAUDE_JSON);
      else json(response, JSON.stringify({ ...message, content: [...content, { type: 'text', text: `{"a":"${'a'.repeat(60)}!"}` }] }));
    });
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const body = {
      model: 'm',
      messages: HI,
      stream: streamed,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    };
    await scene.held(() => scene.sent('/e/claude/v1/chat/completions', body), [200, 502]);
  });
});
