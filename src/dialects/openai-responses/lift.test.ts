import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../base/json.ts';
import { Ledger } from '../../ir/ledger.ts';
import { liftRequest, liftResponse } from './lift.ts';

function claims(body: JsonObject): Record<string, string> {
  const ledger = new Ledger();
  liftRequest({ model: 'm', input: 'x', ...body }, { ledger });
  return Object.fromEntries([...ledger.claims].filter(([path]) => path !== 'model' && path !== 'input'));
}

const lift = (body: Json) => liftRequest(body, { ledger: new Ledger() });

describe('what a member of the body means', () => {
  test('a member that only states the default is no wish that another engine could miss', () => {
    expect(
      claims({
        store: false,
        background: false,
        truncation: 'disabled',
        parallel_tool_calls: true,
        tool_choice: 'auto',
        top_logprobs: 0,
        text: { format: { type: 'text' } },
        user: null,
        include: [],
      }),
    ).toEqual({
      store: 'storage',
      background: 'background',
      truncation: 'context_management',
      parallel_tool_calls: 'parallel_tool_calls',
      tool_choice: 'structure',
      top_logprobs: 'item_identity',
      'text.format.type': 'structure',
      include: 'structure',
    });
    const ledger = new Ledger();
    liftRequest({ model: 'm', input: 'x', store: false, background: false, truncation: 'disabled', user: null }, { ledger });
    expect(ledger.usual).toEqual(new Set(['store', 'background', 'truncation']));
  });

  test('state that the vendor keeps belongs to the vendor', () => {
    expect(claims({ previous_response_id: 'r', conversation: 'c', prompt: { id: 'p' }, background: true, store: true })).toEqual({
      previous_response_id: 'stored_state',
      conversation: 'stored_state',
      prompt: 'stored_state',
      background: 'background',
      store: 'storage',
    });
  });

  test('a member nobody knows is left unclaimed and kept for the vendor', () => {
    const body = { model: 'm', input: 'x', brand_new: { a: 1 } };
    expect(claims(body).brand_new).toBeUndefined();
    expect(lift(body).vendor).toEqual({ 'openai-responses': { brand_new: { a: 1 } } });
  });

  test('an effort that no other vendor has stays the vendor’s own', () => {
    const body = { model: 'm', input: 'x', reasoning: { effort: 'ultra' } };
    expect(claims(body)).toEqual({ 'reasoning.effort': 'vendor_option' });
    expect(lift(body).effort).toBeUndefined();
    expect(lift(body).vendor).toEqual({ 'openai-responses': { reasoning: { effort: 'ultra' } } });
  });

  test('a choice that names a hosted tool is the vendor’s own', () => {
    expect(claims({ tool_choice: { type: 'file_search' } })).toEqual({ tool_choice: 'vendor_option' });
    expect(claims({ tool_choice: { type: 'custom', name: 'x' } })).toEqual({
      'tool_choice.type': 'structure',
      'tool_choice.name': 'tool_choice',
    });
  });

  test('calls of free-form tools are told apart from calls with JSON arguments', () => {
    const call = { call_id: 'c', name: 'n' };
    const input = [
      { type: 'custom_tool_call', ...call, input: 'text' },
      { type: 'function_call', ...call, arguments: '{}' },
    ];
    const all = claims({ input });
    expect(all['input[0].input']).toBe('custom_tool');
    expect(all['input[1].arguments']).toBe('tool_call');
  });
});

describe('a body that is wrong', () => {
  test.each([
    [{ input: 'x' }, 'request body is not valid: model: is required'],
    [{ model: 'm' }, 'request body is not valid: input: is required'],
    [{ model: 'm', input: 'x', temperature: 3 }, 'request body is not valid: temperature: must be at most 2'],
    [
      { model: 'm', input: [{ role: 'robot', content: 'x' }] },
      'input[0] is not valid: role: "robot" is not one of user, assistant, system, developer',
    ],
    [{ model: 'm', input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, 'input[0] is not valid: call_id: is required'],
    [
      { model: 'm', input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
      'input[0].content[0]: names neither data, a URL nor a file id',
    ],
    [
      { model: 'm', input: 'x', tools: [{ type: 'function', name: 'a b' }] },
      'tools[0] is not valid: name: must match ^[a-zA-Z0-9_-]{1,128}$',
    ],
    [{ model: 'm', input: 'x', tool_choice: { type: 'function' } }, 'tool_choice.name: required when tool_choice.type is "function"'],
    [
      { model: 'm', input: 'x', text: { format: { type: 'json_schema', name: 'n' } } },
      'text.format.schema: required when text.format.type is "json_schema"',
    ],
  ])('is refused naming the place: %j', (body, message) => {
    expect(() => lift(body as Json)).toThrow(message); // literals of JSON
  });
});

test('an answer that is not begun yet keeps its state', () => {
  const queued = liftResponse({ id: 'resp_1', model: 'm', status: 'queued', output: [], usage: null });
  expect(queued.finish).toBe('pause');
  expect(queued.meta).toEqual({ 'openai-responses': { status: 'queued' } });
});

test('a turn with calls is a tool turn, unless the limit ended it', () => {
  const call = { type: 'function_call', id: 'fc', call_id: 'c', name: 'f', arguments: '{}' };
  const answer = (status: string, last: string): string =>
    liftResponse({ id: 'r', model: 'm', status, incomplete_details: { reason: 'max_output_tokens' }, output: [{ ...call, status: last }] })
      .finish;
  expect(answer('completed', 'completed')).toBe('tool-calls');
  expect(answer('incomplete', 'completed')).toBe('length');
  expect(answer('incomplete', 'incomplete')).toBe('length');
});
