import fc from 'fast-check';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { type JsonObject, parseJsonObject } from '../../base/json.ts';
import { decodeSse, SseFrames } from '../../base/sse.ts';
import type { IrEvent } from '../../ir/event.ts';
import { Fold, unfold } from '../../ir/fold.ts';
import { Ledger } from '../../ir/ledger.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrResponse } from '../../ir/response.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { openaiResponses } from './dialect.ts';

const context = { runHex: 'ab'.repeat(16), createdAtMs: 1_763_200_000_000, model: 'asked', includeUsage: true, query: '' };
const usage = { ...NO_USAGE, inputTokens: 30, outputTokens: 12, cacheReadTokens: 10, thinkingTokens: 5 };

function emitted(events: readonly IrEvent[]): string {
  const emitter = openaiResponses.emitter(context);
  return events.map((event) => emitter.emit(event)).join('');
}

function decoded(text: string): JsonObject[] {
  const frames = new SseFrames();
  return [...frames.push(Buffer.from(text)), ...frames.flush()].map((frame) => {
    const { event, data } = decodeSse(frame);
    const value = parseJsonObject(data) ?? {};
    expect(value.type).toBe(event);
    return value;
  });
}

/** The items that the last event repeats. */
function finalOutput(events: readonly JsonObject[]): JsonObject[] {
  const response = events.at(-1)?.response as JsonObject | undefined; // the last event holds the whole response
  return (response?.output ?? []) as JsonObject[]; // items are objects
}

/** The vendor's own client, fed with our bytes. */
function sdk(text: string): OpenAI {
  const answer = async (): Promise<Response> => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  return new OpenAI({ apiKey: 'none', fetch: answer, maxRetries: 0 });
}

const turn: IrResponse = {
  id: 'msg_01',
  model: 'other',
  parts: [
    { kind: 'thinking', text: 'Rain?', meta: { claude: { signature: 'c2ln' } } },
    { kind: 'text', text: 'Let me look.' },
    { kind: 'tool-call', id: 'toolu_1', name: 'look', arguments: '{"city":"Oslo"}' },
    { kind: 'tool-call', id: 'toolu_2', name: 'mcp__probe/echo', arguments: '' },
    { kind: 'tool-call', id: 'toolu_3', name: 'apply_patch', arguments: '*** Begin Patch', custom: true },
  ],
  finish: 'tool-calls',
  usage,
};

describe('the stream for a Responses caller', () => {
  test('announces each item, tells it and repeats it whole, counting from 0', () => {
    const events = decoded(emitted(unfold(turn)));
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.custom_tool_call_input.delta',
      'response.custom_tool_call_input.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  test('gives every item one id, from its first event to the final response', () => {
    const events = decoded(emitted(unfold(turn)));
    const ids = (type: string): unknown[] => events.filter((event) => event.type === type).map(({ item }) => (item as JsonObject).id);
    const hex = context.runHex;
    expect(ids('response.output_item.added')).toEqual([`rs_${hex}_0`, `msg_${hex}_1`, `fc_${hex}_2`, `fc_${hex}_3`, `ctc_${hex}_4`]);
    expect(ids('response.output_item.done')).toEqual(ids('response.output_item.added'));
    expect(finalOutput(events).map(({ id }) => id)).toEqual(ids('response.output_item.added'));
  });

  test('is accepted and rebuilt by the vendor’s own client', async () => {
    const final = await sdk(emitted(unfold(turn)))
      .responses.stream({ model: 'asked', input: 'x' })
      .finalResponse();
    expect(final.id).toBe(`resp_${context.runHex}`);
    expect(final.output_text).toBe('Let me look.');
    expect(final.status).toBe('completed');
    expect(final.usage).toEqual({
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 10, cache_write_tokens: 0 },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 42,
    });
    expect(final.output.map((item) => [item.type, 'name' in item ? item.name : '', 'arguments' in item ? item.arguments : ''])).toEqual([
      ['reasoning', '', ''],
      ['message', '', ''],
      ['function_call', 'look', '{"city":"Oslo"}'],
      ['function_call', 'echo', '{}'],
      ['custom_tool_call', 'apply_patch', ''],
    ]);
    expect(final.output[3]).toMatchObject({ namespace: 'mcp__probe', call_id: 'toolu_2' });
  });

  test('is accepted when calls of other engines overlap', async () => {
    const events: IrEvent[] = [
      { type: 'message-start', model: 'other' },
      { type: 'part-start', index: 0, part: { kind: 'tool-call', id: 'a', name: 'one' } },
      { type: 'part-start', index: 1, part: { kind: 'tool-call', id: 'b', name: 'two' } },
      { type: 'part-delta', index: 1, text: '{"b":' },
      { type: 'part-delta', index: 0, text: '{"a":1}' },
      { type: 'part-delta', index: 1, text: '2}' },
      { type: 'part-end', index: 1 },
      { type: 'part-end', index: 0 },
      { type: 'message-end', finish: 'tool-calls', usage },
    ];
    const final = await sdk(emitted(events)).responses.stream({ model: 'asked', input: 'x' }).finalResponse();
    expect(final.output).toMatchObject([
      { name: 'one', arguments: '{"a":1}' },
      { name: 'two', arguments: '{"b":2}' },
    ]);
  });

  test('tells an error to the client that stops at it and to the agent that reads the failed response', async () => {
    const text = emitted([{ type: 'error', error: { kind: 'rate-limit', message: 'slow down', status: 429, retryAfterMs: 1500 } }]);
    const [, , error, failed] = decoded(text);
    const message = 'Rate limit reached. (slow down) Please try again in 1.5s.';
    expect(error).toMatchObject({ type: 'error', code: 'rate_limit_exceeded', message, error: { code: 'rate_limit_exceeded', message } });
    expect(failed).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'rate_limit_exceeded', message } },
    });
    await expect(sdk(text).responses.stream({ model: 'asked', input: 'x' }).finalResponse()).rejects.toThrow('slow down');
  });

  test.each([
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content-filter', 'incomplete', { reason: 'content_filter' }],
    ['refusal', 'incomplete', { reason: 'content_filter' }],
    ['stop-sequence', 'completed', null],
  ] as const)('ends %s as %s', (finish, status, details) => {
    const last = decoded(emitted(unfold({ ...turn, parts: [{ kind: 'text', text: 'a' }], finish }))).at(-1);
    expect(last).toMatchObject({ type: `response.${status}`, response: { status, incomplete_details: details } });
  });

  test('keeps a connection alive with a comment, which is no event to anyone', () => {
    expect(openaiResponses.emitter(context).emit({ type: 'keep-alive' })).toBe(': keep-alive\n\n');
  });
});

describe('state of other engines', () => {
  const parts: IrPart[] = [
    { kind: 'thinking', text: 'Rain?', meta: { claude: { signature: 'c2ln' } } },
    { kind: 'thinking', text: '', redacted: true, meta: { claude: { data: 'b3BhcXVl' } } },
    { kind: 'tool-call', id: 'c1', name: 'look', arguments: '{}', meta: { gemini: { thoughtSignature: 'Z2Vt' } } },
  ];
  const back = [
    { kind: 'thinking', text: 'Rain?', meta: { claude: { signature: 'c2ln' } } },
    { kind: 'thinking', text: '', redacted: true, meta: { claude: { data: 'b3BhcXVl' } } },
    { kind: 'thinking', text: '', redacted: true, meta: { gemini: { thoughtSignature: 'Z2Vt' } } },
    { kind: 'tool-call', id: 'c1', name: 'look', arguments: '{}' },
  ];

  /** What the caller's next request brings back of an answer. */
  function returned(output: readonly JsonObject[]): unknown[] {
    const { messages } = openaiResponses.liftRequest({ model: 'm', input: output }, { ledger: new Ledger() });
    return messages
      .flatMap((message) => message.parts)
      .map(({ at: _at, ...part }) => ('abp' in (part.meta ?? {}) ? withoutMeta(part) : part));
  }

  function withoutMeta({ meta: _meta, ...part }: Omit<IrPart, 'at'>): object {
    return part;
  }

  const response: IrResponse = { model: 'm', parts, finish: 'tool-calls', usage };

  test('comes back untouched with the caller’s next request, whole or streamed', () => {
    expect(returned(openaiResponses.lowerResponse(response, context).output as JsonObject[])).toEqual(back);
    const events = unfold(response).map((event) =>
      // An engine knows the state of a call when it opens.
      event.type === 'part-start' && event.index === 2 && parts[2]?.meta
        ? { ...event, part: { ...event.part, meta: parts[2].meta } }
        : event,
    );
    expect(returned(finalOutput(decoded(emitted(events))))).toEqual(back);
  });

  test('a signature that no vendor owns is shown as it is', () => {
    const answer = openaiResponses.lowerResponse(
      { ...response, parts: [{ kind: 'thinking', text: 'a', meta: { signature: { value: 'c2lt' } } }] },
      context,
    );
    expect(answer.output).toEqual([
      { id: `rs_${context.runHex}_0`, type: 'reasoning', summary: [{ type: 'summary_text', text: 'a' }], encrypted_content: 'c2lt' },
    ]);
  });
});

test('whatever an engine answers, stepping through our stream rebuilds it', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
  const part = fc.oneof(
    text.map((value): IrPart => ({ kind: 'text', text: value })),
    text.map((value): IrPart => ({ kind: 'refusal', text: value })),
    text.map((value): IrPart => ({ kind: 'thinking', text: value })),
    fc.tuple(fc.uuid(), text).map(([id, value]): IrPart => ({ kind: 'tool-call', id, name: 'f', arguments: JSON.stringify({ value }) })),
    fc.tuple(fc.uuid(), text).map(([id, value]): IrPart => ({ kind: 'tool-call', id, name: 'g', arguments: value, custom: true })),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const stepper = openaiResponses.stepper();
      const frames = new SseFrames();
      const fold = new Fold();
      for (const frame of frames.push(Buffer.from(emitted(unfold({ model: 'm', parts, finish: 'stop', usage })))))
        for (const event of stepper.step(decodeSse(frame))) fold.push(event);
      expect(stepper.end()).toEqual([]);
      expect(fold.response()?.parts.map(({ meta: _meta, ...rest }) => rest)).toEqual(parts);
    }),
  );
});
