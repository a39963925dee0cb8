import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import type { Concept } from '../../ir/concept.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { LoweredRequest } from '../dialect.ts';
import { openaiChat } from './dialect.ts';

const base: IrRequest = {
  model: 'm',
  stream: false,
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }],
  tools: [],
  stop: [],
  sampling: {},
  vendor: {},
};

function lower(members: Partial<IrRequest>, traits: string[] = [], lacks: Concept[] = []): LoweredRequest {
  return openaiChat.lowerRequest({ ...base, ...members }, { traits: new Set(traits), lacks: new Set(lacks), defaultMaxTokens: 4096 });
}

/** The messages as plain data, to look into. */
function messages(lowered: LoweredRequest): JsonObject[] {
  return lowered.body.messages as unknown as JsonObject[]; // always a list of messages
}

const call = { kind: 'tool-call', id: 'call_1', name: 'look', arguments: '' } as const;
const result = { kind: 'tool-result', callId: 'call_1', isError: false, parts: [{ kind: 'text', text: 'ok' }] } as const;

describe('messages of other dialects', () => {
  it('put results before the text that stood around them', () => {
    const parts = [{ kind: 'text', text: 'before' } as const, result, { kind: 'text', text: 'after' } as const];
    expect(messages(lower({ messages: [{ role: 'user', parts }] }))).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'before' },
          { type: 'text', text: 'after' },
        ],
      },
    ]);
  });

  it('give every result exactly one message, an empty one too', () => {
    const parts = [{ ...result, parts: [] }];
    expect(messages(lower({ messages: [{ role: 'user', parts }] }))).toEqual([{ role: 'tool', tool_call_id: 'call_1', content: '' }]);
  });

  it('say in words that a call failed, and label it', () => {
    const lowered = lower({ messages: [{ role: 'user', parts: [{ ...result, isError: true, at: 'messages[0].content[0]' }] }] });
    expect(messages(lowered)).toEqual([{ role: 'tool', tool_call_id: 'call_1', content: 'Error: ok' }]);
    expect(lowered.notes).toMatchObject([
      { concept: 'tool_result_error', fate: 'emulated', code: 'error_as_text', at: 'messages[0].content[0]' },
    ]);
  });

  it('write a call without arguments as an empty object', () => {
    expect(messages(lower({ messages: [{ role: 'assistant', parts: [call] }] }))).toEqual([
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }] },
    ]);
  });

  it('send a plain text document as text, refuse one behind an address, and name a PDF', () => {
    const documents = [
      { kind: 'document', title: 'T', source: { kind: 'base64', mediaType: 'text/plain', data: 'aGk=' } },
      { kind: 'document', source: { kind: 'url', url: 'https://example.test/a.pdf' } },
      { kind: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' } },
    ] as const;
    const lowered = lower({ messages: [{ role: 'user', parts: documents }] });
    expect(messages(lowered)[0]?.content).toEqual([
      { type: 'text', text: 'T\nhi' },
      { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
    ]);
    expect(lowered.notes.map(({ concept, fate }) => [concept, fate])).toEqual([
      ['document', 'emulated'],
      ['document_label', 'emulated'],
      ['document_context', 'emulated'],
      ['document', 'refused'],
    ]);
  });

  it('put state of a call that came in a part of its own back on the call', () => {
    const own = { extra_content: { google: { thought_signature: 's' } } };
    const carrier = { kind: 'thinking', text: '', redacted: true, meta: { 'openai-chat': own } } as const;
    expect(messages(lower({ messages: [{ role: 'assistant', parts: [carrier, call] }] }))[0]?.tool_calls).toEqual([
      { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' }, ...own },
    ]);
  });

  it('leave reasoning out where the wire has none, and write it where a compatible engine wants it', () => {
    const thought = [{ role: 'assistant', parts: [{ kind: 'thinking', text: 'hm' }, call] }] as const;
    expect(Object.keys(messages(lower({ messages: thought }))[0] ?? {})).toEqual(['role', 'content', 'tool_calls']);
    expect(messages(lower({ messages: thought }, ['reasoning-content']))[0]?.reasoning_content).toBe('hm');
  });
});

describe('limits of the wire', () => {
  it('asks for several answers, and for logprobs wherever the likeliest tokens are asked for', () => {
    expect(lower({ sampling: { count: 2, topLogprobs: 3 } }).body).toMatchObject({ n: 2, logprobs: true, top_logprobs: 3 });
  });

  it('drops an end user whose id is too long, with a note', () => {
    expect(lower({ endUser: 'u' }).body.safety_identifier).toBe('u');
    const lowered = lower({ endUser: 'u'.repeat(65) });
    expect(lowered.body.safety_identifier).toBeUndefined();
    expect(lowered.notes).toMatchObject([{ concept: 'end_user', fate: 'dropped' }]);
  });

  it('turns the tiers of other vendors into its own or drops them', () => {
    expect(lower({ serviceTier: 'standard_only' }).body.service_tier).toBe('default');
    expect(lower({ serviceTier: 'turbo' }).notes).toMatchObject([{ concept: 'service_tier', fate: 'dropped', code: 'no_such_tier' }]);
  });

  it('says the word that JSON mode demands when nobody has said it', () => {
    const lowered = lower({ output: { kind: 'json' } });
    expect(messages(lowered).at(-1)).toEqual({ role: 'system', content: 'Answer with a JSON object.' });
    expect(lowered.notes).toMatchObject([{ concept: 'json_mode', fate: 'emulated' }]);
    const asked = [{ role: 'user', parts: [{ kind: 'text', text: 'as json' }] }] as const;
    expect(messages(lower({ output: { kind: 'json' }, messages: asked }))).toHaveLength(1);
  });

  it('holds the model to a nameless schema where strict mode takes it, and says so where it does not', () => {
    const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
    expect(lower({ output: { kind: 'json-schema', schema: closed } }).body.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: closed, strict: true },
    });
    const open = lower({ output: { kind: 'json-schema', schema: { type: 'object', properties: { b: closed } } } });
    expect(open.notes).toMatchObject([{ concept: 'json_schema', fate: 'emulated' }]);
  });

  it('keeps the spelling of the token limit that a caller of its own dialect chose', () => {
    expect(lower({ maxTokens: 5 }).body.max_completion_tokens).toBe(5);
    expect(lower({ maxTokens: 5, vendor: { 'openai-chat': { max_tokens: 9 } } }).body).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 5,
    });
  });

  it('asks every stream for its usage', () => {
    expect(lower({ stream: true }).body.stream_options).toEqual({ include_usage: true });
  });
});

describe('hosted tools', () => {
  const search = { kind: 'hosted', hosted: 'web_search', name: 'web_search', at: 'tools[0]', meta: { claude: {} } } as const;

  it('are served by the member of search models and refused elsewhere', () => {
    const served = lower({ tools: [search] }, ['web-search-options']);
    expect(served.body.web_search_options).toEqual({});
    expect(served.notes).toMatchObject([{ concept: 'hosted_tool', fate: 'emulated', at: 'tools[0]' }]);
    const refused = lower({ tools: [search] });
    expect(refused.body.tools).toBeUndefined();
    expect(refused.notes).toMatchObject([{ concept: 'hosted_tool', fate: 'refused', at: 'tools[0]' }]);
  });
});

describe('thinking of other dialects', () => {
  it.each([
    [{ mode: 'enabled', budgetTokens: 1024 }, 'low'],
    [{ mode: 'enabled', budgetTokens: 16_000 }, 'medium'],
    [{ mode: 'enabled', budgetTokens: 32_000 }, 'high'],
    [{ mode: 'disabled' }, 'none'],
    [{ mode: 'adaptive' }, undefined],
  ] as const)('%j becomes an effort, labelled', (thinking, effort) => {
    const lowered = lower({ thinking });
    expect(lowered.body.reasoning_effort).toBe(effort);
    expect(lowered.notes.filter(({ ofLeaf }) => !ofLeaf)).toMatchObject([{ concept: 'thinking', fate: 'emulated' }]);
  });

  it('is nothing to turn off in a model that does not reason', () => {
    const lowered = lower({ thinking: { mode: 'disabled' } }, [], ['effort', 'thinking']);
    expect(lowered.body.reasoning_effort).toBeUndefined();
    expect(lowered.notes).toMatchObject([{ concept: 'thinking', fate: 'emulated', code: 'does_not_reason' }]);
  });
});
