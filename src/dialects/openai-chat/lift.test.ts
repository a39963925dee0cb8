import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { Ledger } from '../../ir/ledger.ts';
import { openaiChat } from './dialect.ts';

const hello = [{ role: 'user', content: 'Hello' }];

function lift(members: object) {
  const ledger = new Ledger();
  const request = openaiChat.liftRequest({ model: 'gpt-4o', messages: hello, ...members } as Json, { ledger });
  return { request, claims: Object.fromEntries(ledger.claims), usual: ledger.usual };
}

function refusal(members: object): AbpError {
  try {
    lift(members);
  } catch (error) {
    if (AbpError.is(error)) return error;
  }
  throw new Error('was not refused');
}

describe('a Chat request with two readings', () => {
  it('is E003 when it has both functions and tools', () => {
    const error = refusal({ functions: [{ name: 'a' }], tools: [{ type: 'function', function: { name: 'b' } }] });
    expect(error.code).toBe('E003');
    expect(error.details).toEqual({
      reason: 'legacy functions stand beside tools',
      possible_interpretations: ['tools only', 'functions only', 'functions and tools together'],
    });
  });

  it('is E003 when its two token limits differ, and fine when they agree', () => {
    expect(refusal({ max_tokens: 10, max_completion_tokens: 20 }).code).toBe('E003');
    expect(lift({ max_tokens: 10, max_completion_tokens: 10 }).request.maxTokens).toBe(10);
  });
});

it('a null says what absence says, wherever the vendor takes one', () => {
  const names = ['stream_options', 'tools', 'tool_choice', 'stop', 'seed', 'n', 'logprobs', 'response_format', 'reasoning_effort', 'user'];
  const { request, claims, usual } = lift(Object.fromEntries(names.map((name) => [name, null])));
  expect(names.filter((name) => claims[name] !== 'structure' && !usual.has(name))).toEqual([]);
  expect(request).toEqual({ ...lift({}).request, vendor: request.vendor });
});

describe('a malformed Chat request', () => {
  it.each([
    [{ temperature: 3 }, 'request body is not valid: temperature'],
    [{ messages: [{ role: 'robot', content: '' }] }, 'messages[0].role: "robot" is not one of'],
    [{ messages: [...hello, { role: 'tool', content: 'x' }] }, 'messages[1].tool_call_id: required when role is "tool"'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0] is not valid: text: is required'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function: required when type is "function"'],
  ])('names the place: %j', (members, message) => {
    const error = refusal(members);
    expect([error.code, error.message]).toEqual(['invalid_request', expect.stringContaining(message)]);
  });
});

describe('the ledger of a Chat request', () => {
  it('holds written-out defaults and nulls as values that ask for nothing', () => {
    const defaults = {
      n: 1,
      logprobs: false,
      frequency_penalty: 0,
      presence_penalty: 0,
      parallel_tool_calls: true,
      store: false,
      modalities: ['text'],
      response_format: { type: 'text' },
      stop: null,
      logit_bias: {},
    };
    const { request, usual } = lift(defaults);
    // What nobody knows beside the type of a format is no default.
    expect(usual).toEqual(new Set(Object.keys(defaults).map((key) => (key === 'response_format' ? 'response_format.type' : key))));
    expect(request.sampling).toEqual({});
    expect(request.vendor['openai-chat']).toEqual(defaults);
  });

  it('holds the same members by their meaning when they say something', () => {
    const { request, claims } = lift({
      n: 2,
      logprobs: true,
      presence_penalty: 1,
      parallel_tool_calls: false,
      store: true,
      modalities: ['text', 'audio'],
    });
    expect(claims).toMatchObject({
      n: 'count',
      logprobs: 'logprobs',
      presence_penalty: 'presence_penalty',
      parallel_tool_calls: 'parallel_tool_calls',
      store: 'storage',
      modalities: 'modalities',
    });
    expect(request.sampling).toEqual({ count: 2, logprobs: true, presencePenalty: 1 });
    expect(request.parallelToolCalls).toBe(false);
  });

  it('leaves what nobody knows unclaimed and keeps it for its own dialect', () => {
    const { request, claims } = lift({ future_option: { deep: 1 } });
    expect(claims.future_option).toBeUndefined();
    expect(request.vendor['openai-chat']).toEqual({ future_option: { deep: 1 } });
  });

  it('tells the system prompt from an instruction inside the conversation', () => {
    const { request, claims } = lift({
      messages: [
        { role: 'developer', content: 'a' },
        { role: 'system', content: 'b' },
        { role: 'user', content: 'c' },
        { role: 'developer', content: 'd' },
      ],
    });
    expect(request.messages.map(({ role }) => role)).toEqual(['system', 'system', 'user', 'system']);
    expect(claims).toMatchObject({
      'messages[0].content': 'system',
      'messages[1].content': 'system',
      'messages[2].content': 'text',
      'messages[3].content': 'system_in_place',
    });
  });

  it('knows no prefill: the model starts anew after a last message of its own', () => {
    const messages = [...hello, { role: 'assistant', content: '{', partial: true }];
    expect(lift({ messages }).claims['messages[1].content']).toBe('text');
  });

  it('marks stored files and cache marks as the vendor’s own', () => {
    const { claims } = lift({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'file', file: { file_id: 'file-1' } },
            { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } },
            { type: 'hologram', data: 1 },
          ],
        },
      ],
      prompt_cache_key: 'k',
    });
    expect(claims).toMatchObject({
      'messages[0].content[0].file.file_id': 'stored_file',
      'messages[0].content[1].cache_control': 'cache_mark',
      'messages[0].content[2]': 'vendor_block',
      prompt_cache_key: 'cache_mark',
    });
  });
});

it('keeps reasoning that a compatible engine wants back, for that dialect alone', () => {
  const reasoning = { reasoning_content: 'hm', reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] };
  const { request, claims } = lift({ messages: [...hello, { role: 'assistant', content: 'Hi', ...reasoning }] });
  expect(request.messages[1]).toMatchObject({ parts: [{ kind: 'text', text: 'Hi' }], meta: { 'openai-chat': reasoning } });
  expect(claims['messages[1].reasoning_details']).toBe('reasoning_state');
});

it('takes an error in an answer of 200 for what it is', () => {
  const body = { error: { message: 'The response was filtered', code: 'content_filter', status: 400 } };
  expect(() => openaiChat.liftResponse(body)).toThrow('The response was filtered');
});

it('gives calls without ids the same ids every time', () => {
  const messages = [...hello, { role: 'assistant', tool_calls: [{ function: { name: 'a', arguments: '{}' } }] }];
  expect(lift({ messages }).request.messages[1]?.parts).toMatchObject([{ kind: 'tool-call', id: 'call_1_0', name: 'a' }]);
});
