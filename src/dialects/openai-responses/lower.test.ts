import { describe, expect, test } from 'vitest';
import type { Concept } from '../../ir/concept.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { FateNote, LowerContext } from '../dialect.ts';
import { lowerRequest } from './lower.ts';

const base: IrRequest = {
  model: 'gpt-5.1',
  stream: false,
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }],
  tools: [],
  stop: [],
  sampling: {},
  vendor: {},
};

function context(lacks: readonly Concept[] = [], traits: readonly string[] = []): LowerContext {
  return { lacks: new Set(lacks), traits: new Set(traits), defaultMaxTokens: 4096 };
}

const body = (request: Partial<IrRequest>, given = context()) => lowerRequest({ ...base, ...request }, given).body;
const notes = (request: Partial<IrRequest>, given = context()): readonly FateNote[] => lowerRequest({ ...base, ...request }, given).notes;
const input = (...parts: IrPart[]) => body({ messages: [{ role: 'user', parts }] }).input;

describe('a request of another dialect', () => {
  test('is not stored, and its tools are held to their schema only when it says so', () => {
    const tools = [
      { kind: 'function', name: 'a', schema: { type: 'object' } },
      { kind: 'function', name: 'b', schema: { type: 'object' }, strict: true },
    ] as const;
    expect(body({ tools })).toEqual({
      model: 'gpt-5.1',
      input: [{ type: 'message', role: 'user', content: 'hi' }],
      tools: [
        { type: 'function', name: 'a', parameters: { type: 'object' }, strict: false },
        { type: 'function', name: 'b', parameters: { type: 'object' }, strict: true },
      ],
      store: false,
    });
  });

  test('gets its system prompt as instructions and a later instruction where it stood', () => {
    const system = (text: string) => ({ role: 'system', parts: [{ kind: 'text', text }] }) as const;
    expect(body({ messages: [system('one'), system('two'), ...base.messages, system('three')] })).toMatchObject({
      instructions: 'one\n\ntwo',
      input: [
        { role: 'user', content: 'hi' },
        { role: 'developer', content: 'three' },
      ],
    });
  });

  test('asks for encrypted reasoning only where there will be reasoning', () => {
    expect(body({}).include).toBeUndefined();
    expect(body({}, context([], ['reasoning'])).include).toEqual(['reasoning.encrypted_content']);
    expect(body({ effort: 'low' }).include).toEqual(['reasoning.encrypted_content']);
    expect(body({ effort: 'none' }).include).toBeUndefined();
    expect(body({}, context(['effort', 'thinking'], ['reasoning'])).include).toBeUndefined();
  });

  test('without thinking and with an effort says that the effort decides', () => {
    const asked = { thinking: { mode: 'disabled' }, effort: 'high' } as const;
    expect(body(asked).reasoning).toEqual({ effort: 'high' });
    expect(notes(asked)).toMatchObject([{ concept: 'thinking', fate: 'emulated', code: 'thinking_hidden' }]);
  });

  test.each([
    [1024, 'low'],
    [4000, 'medium'],
    [31_999, 'high'],
  ])('with a thinking budget of %i reasons with %s effort and shows summaries', (budgetTokens, effort) => {
    const thinking = { mode: 'enabled', budgetTokens } as const;
    expect(body({ thinking }).reasoning).toEqual({ summary: 'auto', effort });
    expect(notes({ thinking })).toMatchObject(
      ['thinking', 'thinking_display', 'thinking_budget'].map((concept) => ({ concept, fate: 'emulated', code: 'thinking_as_effort' })),
    );
  });

  test('that wants no thinking says so where the model can be told', () => {
    const thinking = { mode: 'disabled' } as const;
    expect(body({ thinking }, context([], ['effort-none'])).reasoning).toEqual({ effort: 'none' });
    expect(body({ thinking }).reasoning).toBeUndefined();
    expect(notes({ thinking }).map(({ fate }) => fate)).toEqual(['emulated']);
    expect(notes({ thinking }, context(['effort', 'thinking'])).map(({ fate }) => fate)).toEqual(['renamed']);
  });

  test('loses a default that the model has no form for, and is refused with any other value', () => {
    const lacks = context(['temperature']);
    expect(notes({ sampling: { temperature: 1 } }, lacks)).toMatchObject([
      { concept: 'temperature', fate: 'dropped', code: 'model_lacks' },
    ]);
    expect(notes({ sampling: { temperature: 0 } }, lacks).map(({ fate }) => fate)).toEqual(['refused']);
    expect(body({ sampling: { temperature: 0 } }, lacks).temperature).toBeUndefined();
  });

  test('is held to the limits of the wire with a label', () => {
    const endUser = 'u'.repeat(65);
    const request = { maxTokens: 1, endUser, serviceTier: 'standard_only' };
    expect(body(request)).toMatchObject({
      max_output_tokens: 16,
      safety_identifier: 'f20e249d15fa4b9f44ba21d154f62e1efa76ddfdce5d25139a33a4787cee5a8b',
      service_tier: 'default',
    });
    expect(notes(request).map(({ concept, fate }) => [concept, fate])).toEqual([
      ['max_tokens', 'emulated'],
      ['end_user', 'emulated'],
    ]);
  });

  test('gets a hosted tool in the vendor’s form, or is told that there is none', () => {
    const tools = [
      { kind: 'hosted', hosted: 'web_search', name: 'web_search', meta: { claude: {} }, at: 'tools[0]' },
      { kind: 'hosted', hosted: 'web_fetch', name: 'web_fetch', meta: { claude: {} }, at: 'tools[1]' },
    ] as const;
    expect(body({ tools }).tools).toEqual([{ type: 'web_search' }]);
    expect(notes({ tools })).toMatchObject([
      { concept: 'hosted_tool', fate: 'emulated', code: 'served_by_own_tool', at: 'tools[0]' },
      { concept: 'hosted_tool', fate: 'refused', code: 'no_such_tool', at: 'tools[1]' },
    ]);
  });
});

describe('parts of another dialect', () => {
  test('results stay items in their order, a failed one says so in its text', () => {
    const result = (callId: string, text: string, isError: boolean): IrPart => ({
      kind: 'tool-result',
      callId,
      isError,
      parts: [{ kind: 'text', text }],
    });
    expect(
      input(result('a', 'fine', false), result('b', 'no file', true), result('c', 'Error: gone', true), { kind: 'text', text: 'go on' }),
    ).toEqual([
      { type: 'function_call_output', call_id: 'a', output: 'fine' },
      { type: 'function_call_output', call_id: 'b', output: 'Error: no file' },
      { type: 'function_call_output', call_id: 'c', output: 'Error: gone' },
      { type: 'message', role: 'user', content: 'go on' },
    ]);
  });

  test('the result of a free-form tool is an item of its own kind', () => {
    const messages = [
      { role: 'assistant', parts: [{ kind: 'tool-call', id: 'c', name: 'patch', arguments: 'text', custom: true }] },
      { role: 'user', parts: [{ kind: 'tool-result', callId: 'c', isError: false, parts: [{ kind: 'text', text: 'ok' }] }] },
    ] as const;
    expect(body({ messages }).input).toEqual([
      { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: 'text' },
      { type: 'custom_tool_call_output', call_id: 'c', output: 'ok' },
    ]);
  });

  test('media have the vendor’s forms, plain text documents are text', () => {
    expect(
      input(
        { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'aGk=' } },
        { kind: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'aGk=' } },
        { kind: 'document', title: 'notes', source: { kind: 'base64', mediaType: 'text/plain', data: 'aGk=' } },
      ),
    ).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
          { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,aGk=' },
          { type: 'input_text', text: 'notes\n\nhi' },
        ],
      },
    ]);
  });

  test('reasoning of other engines is left out, never shown as text', () => {
    const messages = [
      {
        role: 'assistant',
        parts: [
          { kind: 'thinking', text: 'secret', at: 'x' },
          { kind: 'text', text: 'said' },
        ],
      },
    ] as const;
    expect(body({ messages }).input).toEqual([{ type: 'message', role: 'assistant', content: 'said' }]);
    expect(notes({ messages })).toMatchObject([{ concept: 'thinking_history', fate: 'dropped', code: 'reasoning_not_its_own', at: 'x' }]);
  });

  test('the vendor’s own reasoning comes back exactly, but not without its state where nothing is stored', () => {
    const own = { id: 'rs_1', summary: [{ type: 'summary_text', text: 'a' }], encrypted_content: 'Z0FB' };
    const thinking = (meta: IrPart['meta']) =>
      [{ role: 'assistant', parts: [{ kind: 'thinking', text: 'a', ...(meta ? { meta } : {}) }] }] as const;
    expect(body({ messages: thinking({ 'openai-responses': own }) }).input).toEqual([{ type: 'reasoning', ...own }]);
    expect(body({ messages: thinking({ 'openai-responses': { id: 'rs_1', summary: [] } }) }).input).toEqual([]);
  });
});

test('a request of this dialect is not second-guessed', () => {
  const request = { sampling: { temperature: 0 }, vendor: { 'openai-responses': { prompt_cache_key: 'k', user: 'u' } }, endUser: 'u' };
  expect(lowerRequest({ ...base, ...request }, context(['temperature']))).toEqual({
    path: '/v1/responses',
    headers: {},
    body: {
      model: 'gpt-5.1',
      input: [{ type: 'message', role: 'user', content: 'hi' }],
      temperature: 0,
      prompt_cache_key: 'k',
      user: 'u',
    },
    notes: [],
  });
});
