import fc from 'fast-check';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { anyAnswer, chunk, emitted, foldOf, stepsOf, stepsOfBytes } from '../../../test/support/chat-stream.ts';
import type { JsonObject } from '../../base/json.ts';
import type { IrEvent } from '../../ir/event.ts';
import type { IrUsage } from '../../ir/usage.ts';
import { openaiChat } from './dialect.ts';

const calls = (...list: JsonObject[]): JsonObject => chunk({ tool_calls: list });

describe('calls in a stream', () => {
  it('are told apart by name when the engine gives neither ids nor numbers', () => {
    const events = stepsOf(openaiChat, [
      calls({ index: 0, function: { name: 'a', arguments: '{"x":1}' } }),
      calls({ index: 0, function: { name: 'b', arguments: '{}' } }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
    expect(foldOf(events).response()?.parts).toEqual([
      { kind: 'tool-call', id: 'call_chatcmpl7_0', name: 'a', arguments: '{"x":1}' },
      { kind: 'tool-call', id: 'call_chatcmpl7_1', name: 'b', arguments: '{}' },
    ]);
  });

  it('keep what the engine wants back with them', () => {
    const extra = { google: { thought_signature: 's' } };
    const events = stepsOf(openaiChat, [
      calls({ index: 0, id: 'c1', function: { name: 'a', arguments: '{}' }, extra_content: extra }),
      chunk({}, 'stop'),
    ]);
    expect(foldOf(events).response()?.parts[0]?.meta).toEqual({ 'openai-chat': { extra_content: extra } });
    expect(stepsOfBytes(openaiChat, Buffer.from(emitted(openaiChat, events)), 64)).toEqual(
      events.map((event) => (event.type === 'message-start' ? { ...event, model: 'gpt-5' } : event)),
    );
  });

  it('wait for their name', () => {
    const events = stepsOf(openaiChat, [
      calls({ index: 0, id: 'c1' }),
      calls({ index: 0, function: { name: 'a', arguments: '{}' } }),
      chunk({}, 'stop'),
    ]);
    expect(foldOf(events).response()).toMatchObject({ finish: 'tool-calls', parts: [{ id: 'c1', name: 'a', arguments: '{}' }] });
  });

  it('do not hide that the limit ended the answer', () => {
    const cut = stepsOf(openaiChat, [
      calls({ index: 0, id: 'c1', function: { name: 'a', arguments: '{"x":' } }),
      chunk({}, 'length'),
      '[DONE]',
    ]);
    expect(foldOf(cut).response()?.finish).toBe('length');
    const whole = stepsOf(openaiChat, [
      calls({ index: 0, id: 'c1', function: { name: 'a', arguments: '{"x":1}' } }),
      chunk({}, 'length'),
      '[DONE]',
    ]);
    expect(foldOf(whole).response()?.finish).toBe('length');
  });

  it('in the old form are calls', () => {
    const events = stepsOf(openaiChat, [
      chunk({ function_call: { name: 'a', arguments: '' } }),
      chunk({ function_call: { arguments: '{"x":1}' } }),
      chunk({}, 'function_call'),
      '[DONE]',
    ]);
    expect(foldOf(events).response()).toMatchObject({ finish: 'tool-calls', parts: [{ name: 'a', arguments: '{"x":1}' }] });
  });
});

it('a whole answer that stands in a stream as its only event is read', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const message = { role: 'assistant', content: 'Yes', tool_calls: [call] };
  const events = stepsOf(openaiChat, [{ id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }, '[DONE]']);
  expect(foldOf(events).response()?.parts).toEqual([
    { kind: 'text', text: 'Yes' },
    { kind: 'tool-call', id: 'c1', name: 'f', arguments: '{}' },
  ]);
});

describe('a choice without a message', () => {
  const held = {
    index: 0,
    finish_reason: 'content_filter',
    logprobs: null,
    content_filter_results: { hate: { filtered: true, severity: 'high' } },
  };
  const body = { id: 'c', model: 'm', choices: [held], usage: { prompt_tokens: 15, completion_tokens: 19, total_tokens: 34 } };

  it('is an answer where a filter held it back, as Azure tells it', () => {
    expect(openaiChat.liftResponse(body)).toMatchObject({
      finish: 'content-filter',
      parts: [],
      usage: { inputTokens: 15, outputTokens: 19 },
    });
    expect(foldOf(stepsOf(openaiChat, [body, '[DONE]'])).response()).toMatchObject({ finish: 'content-filter', parts: [] });
  });

  it('is none where it ends as if it had said something', () => {
    const unsaid = { ...body, choices: [{ index: 0, text: 'before chat', finish_reason: 'stop' }] };
    expect(() => openaiChat.liftResponse(unsaid)).toThrow('the engine answered without a message');
    expect(stepsOf(openaiChat, [unsaid, '[DONE]'])).toContainEqual(expect.objectContaining({ type: 'error' }));
  });
});

describe('the end of a stream', () => {
  it('is an error, once, when the engine stops early', () => {
    expect(stepsOf(openaiChat, [chunk({ content: 'He' })]).filter(({ type }) => type === 'error')).toEqual([
      { type: 'error', error: { kind: 'server', message: 'the engine closed the stream early', status: 200 } },
    ]);
  });

  it('needs no [DONE] after a finish reason, and no finish reason before [DONE]', () => {
    expect(stepsOf(openaiChat, [chunk({ content: 'a' }, 'stop')]).at(-1)).toMatchObject({ type: 'message-end', finish: 'stop' });
    expect(stepsOf(openaiChat, [chunk({ content: 'a' }), '[DONE]']).at(-1)).toMatchObject({ type: 'message-end', finish: 'stop' });
  });

  it.each([
    [{ error: { message: 'slow', code: 'rate_limit_exceeded' } }, 'rate-limit', 'slow'],
    [{ error: 'upstream broke' }, 'server', 'upstream broke'],
    [{ error: { message: 'late', type: 'server_error', code: 'timeout' }, choices: [] }, 'timeout', 'late'],
  ])('is an error that a chunk tells: %j', (body, kind, message) => {
    expect(stepsOf(openaiChat, [chunk({ content: 'a' }), body, '[DONE]']).at(-1)).toEqual({
      type: 'error',
      error: { kind, message, status: 200 },
    });
  });

  it('tells further answers of a request for several apart, and ends them before the first', () => {
    const second = { ...chunk({}), choices: [{ index: 1, delta: { content: 'b' }, finish_reason: 'length' }] };
    const events = stepsOf(openaiChat, [chunk({ content: 'a' }), second, chunk({}, 'stop'), '[DONE]']);
    expect(foldOf(events).response()).toMatchObject({
      finish: 'stop',
      parts: [{ kind: 'text', text: 'a' }],
      alternatives: [{ finish: 'length', parts: [{ kind: 'text', text: 'b' }] }],
    });
    expect(events.slice(-2)).toMatchObject([{ type: 'choice', choice: 1, event: { type: 'message-end' } }, { type: 'message-end' }]);
  });

  it('is cut when one of several answers never said why it stopped', () => {
    const second = { ...chunk({}), choices: [{ index: 1, delta: { content: 'b' } }] };
    expect(stepsOf(openaiChat, [chunk({ content: 'a' }), second, chunk({}, 'stop')]).at(-1)).toMatchObject({ type: 'error' });
  });
});

const usage: IrUsage = {
  inputTokens: 30,
  outputTokens: 9,
  cacheReadTokens: 20,
  cacheWriteTokens: 4,
  thinkingTokens: 5,
  webSearchRequests: 0,
};

/** An answer of a Claude engine: it thinks, speaks, and calls twice at the same time. */
const events: readonly IrEvent[] = [
  { type: 'message-start' },
  { type: 'part-start', index: 0, part: { kind: 'thinking' } },
  { type: 'part-delta', index: 0, text: 'Let me see.' },
  { type: 'part-end', index: 0, meta: { claude: { signature: 'sig' } } },
  { type: 'part-start', index: 1, part: { kind: 'text' } },
  { type: 'part-delta', index: 1, text: 'Looking ' },
  { type: 'keep-alive' },
  { type: 'part-delta', index: 1, text: 'up.' },
  { type: 'part-end', index: 1 },
  { type: 'part-start', index: 2, part: { kind: 'tool-call', id: 'toolu_1', name: 'get_weather' } },
  { type: 'part-start', index: 3, part: { kind: 'tool-call', id: 'toolu_2', name: 'now' } },
  { type: 'part-delta', index: 2, text: '{"city":' },
  { type: 'part-delta', index: 2, text: '"Paris"}' },
  { type: 'part-end', index: 3 },
  { type: 'part-end', index: 2 },
  { type: 'message-end', finish: 'tool-calls', usage },
];

/** OpenAI's own client, answered with the given bytes. */
function client(text: string, type = 'text/event-stream', status = 200): OpenAI {
  const answer = async (): Promise<Response> => new Response(text, { status, headers: { 'content-type': type } });
  return new OpenAI({ apiKey: 'none', baseURL: 'http://127.0.0.1', fetch: answer, maxRetries: 0 });
}

const asked = { model: 'gpt-5', messages: [{ role: 'user', content: 'Weather?' }] } as const;

describe("OpenAI's client", () => {
  it('puts the stream together', async () => {
    const stream = client(emitted(openaiChat, events)).chat.completions.stream({ ...asked, messages: [...asked.messages] });
    const completion = await stream.finalChatCompletion();
    expect(completion).toMatchObject({
      id: `chatcmpl-${'ab'.repeat(16)}`,
      object: 'chat.completion',
      created: 1_767_225_600,
      model: 'gpt-5',
      usage: {
        prompt_tokens: 30,
        completion_tokens: 9,
        total_tokens: 39,
        prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    });
    expect(completion.choices).toMatchObject([
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'Looking up.',
          refusal: null,
          tool_calls: [
            { id: 'toolu_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
            { id: 'toolu_2', type: 'function', function: { name: 'now', arguments: '{}' } },
          ],
        },
      },
    ]);
  });

  it('throws the error of a stream', async () => {
    const error: IrEvent = { type: 'error', error: { kind: 'overloaded', message: 'Overloaded', status: 529 } };
    const stream = await client(emitted(openaiChat, [...events.slice(0, 6), error])).chat.completions.create({
      ...asked,
      messages: [...asked.messages],
      stream: true,
    });
    const read = async (): Promise<void> => {
      for await (const _chunk of stream);
    };
    await expect(read()).rejects.toThrow('The engine is currently overloaded, please try again later (Overloaded)');
  });

  it('reads our own errors with code, type and message', async () => {
    const body = { error: { code: 'E001', type: 'UnsupportedFeature', message: 'No.', details: {}, request_id: 'req_1' } };
    const call = client(JSON.stringify(openaiChat.wrapError(body, 400)), 'application/json', 400).chat.completions.create({
      ...asked,
      messages: [...asked.messages],
    });
    await expect(call).rejects.toMatchObject({ status: 400, code: 'E001', type: 'UnsupportedFeature', param: null });
  });
});

describe('the stream', () => {
  it('shows no usage to a caller that did not ask, and ends with [DONE]', () => {
    const text = emitted(openaiChat, events, { includeUsage: false });
    expect(text).not.toContain('usage');
    expect(text.endsWith('"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n')).toBe(true);
  });

  it('has no [DONE] after an error', () => {
    const error: IrEvent = { type: 'error', error: { kind: 'server', message: 'broke', status: 500 } };
    expect(emitted(openaiChat, [error])).toBe('data: {"error":{"message":"broke","type":"server_error","param":null,"code":null}}\n\n');
  });

  it('tells reasoning of another engine once, beside the state that must come back with it', () => {
    const text = emitted(openaiChat, events);
    expect(text.split('Let me see.')).toHaveLength(2);
    expect(text).toMatch(/"reasoning_details":\[\{"type":"reasoning\.text","text":"Let me see\.","signature":"abp1\./);
  });

  it('tells usage once, in a chunk of its own', () => {
    const text = emitted(openaiChat, events);
    expect(text.split('"usage":{"prompt_tokens":30')).toHaveLength(2);
    expect(text).toContain('"choices":[],"usage":{"prompt_tokens":30');
  });

  it('ends a refusal with words by stop and one without by the filter', () => {
    const end: IrEvent = { type: 'message-end', finish: 'refusal', usage };
    const words: IrEvent = { type: 'part-start', index: 0, part: { kind: 'refusal' } };
    expect(emitted(openaiChat, [{ type: 'message-start' }, words, end])).toContain('"finish_reason":"stop"');
    expect(emitted(openaiChat, [{ type: 'message-start' }, end])).toContain('"finish_reason":"content_filter"');
  });
});

it('what is emitted steps to the same answer, however it is cut', () => {
  fc.assert(
    fc.property(anyAnswer, fc.integer({ min: 1, max: 50 }), (answer, size) => {
      const again = stepsOfBytes(openaiChat, Buffer.from(emitted(openaiChat, answer)), size);
      expect(foldOf(again).response()).toEqual(foldOf(answer).response());
    }),
    { numRuns: 60 },
  );
});

describe('content that is a list, as Mistral writes it', () => {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
  const reference = { type: 'reference', reference_ids: [1] };
  const quote = { kind: 'vendor', dialect: 'openai-chat', type: 'reference', meta: { 'openai-chat': { content: [reference] } } };

  it('is read piece by piece', () => {
    const events = stepsOf(openaiChat, [
      chunk({ content: [thinking] }),
      chunk({ content: [{ type: 'text', text: 'Y' }] }),
      chunk({ content: 'es' }),
      chunk({ content: [reference, { type: 'refusal', refusal: 'No.' }] }),
      chunk({}, 'stop'),
    ]);
    expect(foldOf(events).response()?.parts).toEqual([
      { kind: 'thinking', text: 'Hm.' },
      { kind: 'text', text: 'Yes' },
      quote,
      { kind: 'refusal', text: 'No.' },
    ]);
  });

  it('is read the same whole', () => {
    const content = [thinking, { type: 'text', text: 'Y' }, { type: 'text', text: 'es' }, reference, { type: 'refusal', refusal: 'No.' }];
    const body = { id: 'c', model: 'm', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] };
    expect(openaiChat.liftResponse(body).parts).toEqual([
      { kind: 'thinking', text: 'Hm.' },
      { kind: 'text', text: 'Yes' },
      quote,
      { kind: 'refusal', text: 'No.' },
    ]);
  });
});
