import { describe, expect, test } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { dialects } from '../../src/dialects/index.ts';
import type { IrEvent } from '../../src/ir/event.ts';
import { NO_USAGE } from '../../src/ir/usage.ts';
import { streamedAnswer, wholeAnswer } from '../support/answer-translation.ts';
import { dialectOf, mapTo, targetOf } from '../support/mapping.ts';

const schema = { type: 'object', properties: { q: { type: 'string' } } };
const chat = (name: string): JsonObject => ({
  model: 'm',
  messages: [{ role: 'user', content: 'x' }],
  tools: [{ type: 'function', function: { name, parameters: schema } }],
});

/** Each dialect with names that only some others take, and where its callers read the name of a call. */
const CALLERS: Readonly<
  Record<string, { readonly asks: readonly (readonly [tool: string, body: JsonObject])[]; readonly read: (text: string) => unknown }>
> = {
  claude: {
    asks: ['a'.repeat(128), '9-lives', '-x', 'mcp__github__get_me'].map((name) => [
      name,
      { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }], tools: [{ name, input_schema: schema }] },
    ]),
    read: (text) => /"type":"tool_use"[^{}]*"name":"([^"]*)"/.exec(text)?.[1],
  },
  'openai-chat': { asks: ['a'.repeat(64), '9-lives', '_x'].map((name) => [name, chat(name)]), read: chatName },
  kimi: { asks: ['a'.repeat(64), 'A-b_c'].map((name) => [name, chat(name)]), read: chatName },
  copilot: { asks: ['a'.repeat(64), '9-lives'].map((name) => [name, chat(name)]), read: chatName },
  gemini: {
    asks: ['files.read:v1', 'a.b', '_x', `a${'.b'.repeat(60)}`].map((name) => [
      name,
      {
        contents: [{ role: 'user', parts: [{ text: 'x' }] }],
        tools: [{ functionDeclarations: [{ name, parametersJsonSchema: schema }] }],
      },
    ]),
    read: (text) => /"functionCall":\{[^{}]*"name":"([^"]*)"/.exec(text)?.[1],
  },
  'openai-responses': {
    asks: [
      ['search', { model: 'm', input: 'x', tools: [{ type: 'function', name: 'search', parameters: schema, strict: false }] }],
      [
        'mcp__github/get.me'.replace('.', '_'),
        {
          model: 'm',
          input: 'x',
          tools: [
            {
              type: 'namespace',
              name: 'mcp__github',
              description: 'GitHub',
              tools: [
                { type: 'function', name: 'get_me', parameters: schema, strict: false },
                { type: 'function', name: 'search', parameters: schema, strict: false },
              ],
            },
          ],
        },
      ],
    ],
    read: (text) => {
      const item = itemIn(text, 'function_call');
      return item?.namespace === undefined ? item?.name : `${String(item.namespace)}/${String(item.name)}`;
    },
  },
};

/** The first object of a kind in an answer or in the events of a stream. */
function itemIn(text: string, type: string): JsonObject | undefined {
  const texts = text.startsWith('{') ? [text] : [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => data ?? '');
  return texts.map((one) => found(JSON.parse(one) as Json, type)).find((item) => item !== undefined);
}

function found(value: Json, type: string): JsonObject | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isJsonObject(value) && value.type === type) return value;
  return Object.values(value)
    .map((one) => found(one as Json, type)) // members of JSON
    .find((item) => item !== undefined);
}

function chatName(text: string): unknown {
  return /"function":\{[^{}]*"name":"([^"]*)"/.exec(text)?.[1];
}

/** The name of the first tool that leaves. */
function declaredName(body: Json | undefined): string {
  const text = JSON.stringify(body);
  return /"tools":.*?"name":"((?!mcp__github"|GitHub)[^"]*)"/.exec(text)?.[1] ?? '';
}

const TARGETS = dialects.map(({ id }) => [id, targetOf(`sim:${id}`, 'sim-1')] as const);
const CALL = '{"q":"owls"}';

describe.each(Object.keys(CALLERS))('the name of a tool of a caller of %s', (from) => {
  test.each(TARGETS)('comes back from %s as it was, streamed and whole', (id, target) => {
    for (const [tool, body] of CALLERS[from]?.asks ?? []) {
      const mapping = mapTo(target, from, body);
      expect(mapping.error).toBeUndefined();
      const sent = declaredName(mapping.upstream?.body);
      expect(dialectOf(id).rules.toolName.test(sent)).toBe(true);
      const context = { runHex: 'ab'.repeat(16), createdAtMs: 0, model: 'm', includeUsage: true, query: '?alt=sse' };
      // On the wire of Responses a tool of a namespace is named by two members; in between by one name.
      const called = id === 'openai-responses' && from === id ? tool : sent;
      const part = { kind: 'tool-call', id: 'call_1', name: called, arguments: CALL } as const;
      const answer = dialectOf(id).lowerResponse({ model: 'm', parts: [part], finish: 'tool-calls', usage: NO_USAGE }, context);
      const { changes } = mapping;
      const told = wholeAnswer(id, from, JSON.parse(JSON.stringify(answer)) as JsonObject, { changes });
      expect(CALLERS[from]?.read(JSON.stringify(told.body))).toBe(tool);
      const emitter = dialectOf(id).emitter(context);
      const events: IrEvent[] = [
        { type: 'message-start', id: 'x', model: 'm', usage: NO_USAGE },
        { type: 'part-start', index: 0, part: { kind: 'tool-call', id: 'call_1', name: called } },
        { type: 'part-delta', index: 0, text: CALL },
        { type: 'part-end', index: 0 },
        { type: 'message-end', finish: 'tool-calls', usage: NO_USAGE },
      ];
      const stream = streamedAnswer(id, from, Buffer.from(events.map((event) => emitter.emit(event)).join('')), { changes });
      expect(CALLERS[from]?.read(stream.text)).toBe(tool);
    }
  });
});
