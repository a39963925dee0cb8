import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../console/src/api/answer.ts';
import { compactJson } from '../../console/src/base/compact-json.ts';
import { without } from '../../console/src/base/json-path.ts';
import { fatesOfLines } from '../../console/src/components/json-editor/lines.ts';
import { goOn } from '../../console/src/pages/playground/go-on.ts';

const REQUEST = {
  model: 'claude-sonnet-4-5',
  top_k: 40,
  metadata: { user_id: 'u_4812' },
  system: [
    { type: 'text', text: 'You are the release clerk. Answer from the tool and from nothing else.', cache_control: { type: 'ephemeral' } },
  ],
  'odd "name": {': ['a, b', '}', 1e21, null, true, [], {}, [[1], [2]]],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'x'.repeat(90) },
      ],
    },
  ],
};

describe('the text of a request', () => {
  it.each([10, 40, 76, 10_000])('says the same in lines of %i letters', (width) => {
    expect(JSON.parse(compactJson(REQUEST, width))).toEqual(REQUEST);
  });

  it('keeps what fits on one line', () => {
    expect(compactJson({ metadata: { user_id: 'u' }, list: [] })).toBe('{ "metadata": { "user_id": "u" }, "list": [] }');
    expect(compactJson(REQUEST)).toContain('\n  "metadata": { "user_id": "u_4812" },\n');
    expect(compactJson(REQUEST)).toContain('"system": [{\n');
  });

  it('finds the line of a field by its path and by its pointer, with the gravest fate', () => {
    const text = compactJson(REQUEST);
    const lineOf = (words: string): number => text.split('\n').findIndex((line) => line.includes(words)) + 1;
    expect(
      fatesOfLines(text, [
        { place: 'top_k', fate: 'refused', note: 'has no form' },
        { place: '/metadata/user_id', fate: 'exact' },
        { place: 'metadata', fate: 'dropped' },
        { place: 'system[0].cache_control.type', fate: 'dropped' },
        { place: 'messages[*].content[*].text', fate: 'renamed' },
        { place: 'nowhere', fate: 'refused' },
      ]),
    ).toEqual([
      { line: lineOf('"top_k"'), fate: 'refused', note: 'has no form' },
      { line: lineOf('"metadata"'), fate: 'dropped', note: '' },
      { line: lineOf('"cache_control"'), fate: 'dropped', note: '' },
      { line: lineOf('"one"'), fate: 'renamed', note: '' },
      { line: lineOf('xxx'), fate: 'renamed', note: '' },
    ]);
  });

  it('never throws on text that is no JSON', () => {
    for (const text of ['', '{', '}', ']]}', '"', '{"a":', '[1,,2', '{"a" "b"}', '\\u', '{"a":{"b":[}']) {
      expect(Array.isArray(fatesOfLines(text, [{ place: 'a.b[0]', fate: 'exact' }]))).toBe(true);
    }
  });

  it('loses a field and what becomes empty by that', () => {
    expect(without({ a: { b: 1 }, c: 2 }, 'a.b')).toEqual({ c: 2 });
    expect(without({ stop: ['a', 'b'] }, 'stop[0]')).toEqual({ stop: ['b'] });
    expect(without({ stop: ['a', 'b'] }, 'stop[*]')).toEqual({});
    expect(without({ m: [{ x: 1, y: 1 }, { y: 2 }] }, 'm[*].x')).toEqual({ m: [{ y: 1 }, { y: 2 }] });
  });
});

const CALL = { id: 'call_1', name: 'lookup', input: '{"v":1}' };
const READ = { text: 'I look.', thinking: '', signature: '', tools: [CALL] };
const RESULTS = new Map([['call_1', '{"ok":true}']]);

describe('a conversation goes on after a tool call', () => {
  it.each<[string, object, object]>([
    [
      'claude',
      { messages: [] },
      {
        messages: [
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'I look.' },
              { type: 'tool_use', id: 'call_1', input: { v: 1 } },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '{"ok":true}' }] },
        ],
      },
    ],
    [
      'openai-chat',
      { messages: [] },
      { messages: [{ tool_calls: [{ id: 'call_1', function: { arguments: '{"v":1}' } }] }, { role: 'tool', tool_call_id: 'call_1' }] },
    ],
    [
      'openai-responses',
      { input: 'hi' },
      {
        input: [
          { role: 'user', content: 'hi' },
          { type: 'function_call', call_id: 'call_1' },
          { type: 'function_call_output', output: '{"ok":true}' },
        ],
      },
    ],
    [
      'gemini',
      { contents: [] },
      { contents: [{ role: 'model' }, { role: 'user', parts: [{ functionResponse: { name: 'lookup', response: { ok: true } } }] }] },
    ],
  ])('in %s', (dialect, request, expected) => {
    expect(goOn(dialect, JSON.stringify(request), READ, RESULTS)).toMatchObject(expected);
  });

  it.each<[string, string]>([
    [
      'claude',
      'data: {"type":"content_block_start","content_block":{"type":"tool_use","id":"call_1","name":"lookup","input":{}}}\n\ndata: {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\\"v\\":1}"}}\n',
    ],
    ['openai-chat', '{"choices":[{"message":{"tool_calls":[{"id":"call_1","function":{"name":"lookup","arguments":"{\\"v\\":1}"}}]}}]}'],
    ['openai-responses', '{"output":[{"type":"function_call","call_id":"call_1","name":"lookup","arguments":"{\\"v\\":1}"}]}'],
    ['gemini', '{"candidates":[{"content":{"parts":[{"functionCall":{"id":"call_1","name":"lookup","args":{"v":1}}}]}}]}'],
  ])('the calls of %s are read from its answers', (_, body) => {
    expect(readAnswer(body).tools).toEqual([CALL]);
  });
});
