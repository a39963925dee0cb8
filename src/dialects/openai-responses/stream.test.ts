import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import type { IrEvent } from '../../ir/event.ts';
import { Fold } from '../../ir/fold.ts';
import type { IrResponse } from '../../ir/response.ts';
import { stepper } from './stream.ts';

const created = { type: 'response.created', response: { id: 'resp_1', model: 'm' } };
const completed = (output: JsonObject[]): JsonObject => ({
  type: 'response.completed',
  response: { id: 'resp_1', model: 'm', status: 'completed', output, usage: { input_tokens: 1, output_tokens: 2 } },
});

function steps(...events: JsonObject[]): IrEvent[] {
  const reader = stepper();
  return [...events.flatMap((event) => reader.step({ event: String(event.type), data: JSON.stringify(event) })), ...reader.end()];
}

function answer(...events: JsonObject[]): IrResponse | undefined {
  const fold = new Fold();
  for (const event of steps(...events)) fold.push(event);
  return fold.response();
}

const calls = (response: IrResponse | undefined): unknown[] =>
  (response?.parts ?? []).map((part) => (part.kind === 'tool-call' ? [part.id, part.name, part.arguments] : part.kind));

const call = (id: string, callId: string, name: string, text: string): JsonObject => ({
  type: 'function_call',
  id,
  call_id: callId,
  name,
  arguments: text,
});
const added = (index: number, item: JsonObject): JsonObject => ({ type: 'response.output_item.added', output_index: index, item });
const done = (index: number, item: JsonObject): JsonObject => ({ type: 'response.output_item.done', output_index: index, item });
const delta = (index: number, id: string, text: string): JsonObject => ({
  type: 'response.function_call_arguments.delta',
  output_index: index,
  item_id: id,
  delta: text,
});

describe('engines that tell items in their own way', () => {
  test('one output index for every call: ids keep them apart', () => {
    const events = [
      added(0, call('fc_a', 'a', 'one', '')),
      added(0, call('fc_b', 'b', 'two', '')),
      delta(0, 'fc_a', '{"a":'),
      delta(0, 'fc_b', '{"b":2}'),
      delta(0, 'fc_a', '1}'),
      done(0, call('fc_a', 'a', 'one', '{"a":1}')),
      done(0, call('fc_b', 'b', 'two', '{"b":2}')),
    ];
    expect(calls(answer(created, ...events, completed([])))).toEqual([
      ['a', 'one', '{"a":1}'],
      ['b', 'two', '{"b":2}'],
    ]);
  });

  test('an id that changes from event to event: the output index holds', () => {
    const events = [
      added(0, call('x1', 'a', 'one', '')),
      added(1, call('x2', 'b', 'two', '')),
      delta(1, 'y1', '{"b":2}'),
      delta(0, 'y2', '{"a":1}'),
      done(0, call('z1', 'a', 'one', '{"a":1}')),
      done(1, call('z2', 'b', 'two', '{"b":2}')),
    ];
    const response = answer(created, ...events, completed([call('w1', 'a', 'one', '{"a":1}'), call('w2', 'b', 'two', '{"b":2}')]));
    expect(calls(response)).toEqual([
      ['a', 'one', '{"a":1}'],
      ['b', 'two', '{"b":2}'],
    ]);
  });

  test('a call without ids gets one that stays the same', () => {
    const bare = { type: 'function_call', name: 'one' };
    const events = [added(0, bare), done(0, { ...bare, arguments: '{}' })];
    expect(calls(answer(created, ...events, completed([])))).toEqual([['call_0', 'one', '{}']]);
  });

  test('an empty output at the end: the items told before it are the answer', () => {
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'hi' }] };
    const response = answer(created, added(0, { ...item, content: [] }), done(0, item), completed([]));
    expect(response?.parts).toMatchObject([{ kind: 'text', text: 'hi' }]);
    expect(response?.finish).toBe('stop');
  });

  test('nothing but the end: its output is the answer', () => {
    const response = answer(created, completed([call('fc_a', 'a', 'one', '{"a":1}')]));
    expect(calls(response)).toEqual([['a', 'one', '{"a":1}']]);
    expect(response?.finish).toBe('tool-calls');
  });

  test('deltas without a content part, and items that are never finished', () => {
    const text = { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', content_index: 0, delta: 'hi' };
    const events = steps(created, added(0, { type: 'message', id: 'msg_1', content: [] }), text, completed([]));
    expect(events.map(({ type }) => type)).toEqual(['message-start', 'part-start', 'part-delta', 'part-end', 'message-end']);
  });

  test('reasoning as raw text instead of summaries', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'because' }] };
    const raw = { type: 'response.reasoning_text.delta', output_index: 0, item_id: 'rs_1', content_index: 0, delta: 'because' };
    expect(answer(created, added(0, { ...item, content: [] }), raw, done(0, item), completed([item]))?.parts).toMatchObject([
      { kind: 'thinking', text: 'because' },
    ]);
  });

  test('events that nobody knows and text that is no JSON are skipped', () => {
    const reader = stepper();
    expect(reader.step({ event: 'response.brand_new', data: '{"type":"response.brand_new"}' })).toEqual([]);
    expect(reader.step({ event: '', data: '[DONE]' })).toEqual([]);
  });

  test('an answer that begins without its first event still begins', () => {
    expect(steps(completed([])).map(({ type }) => type)).toEqual(['message-start', 'message-end']);
  });
});

describe('a stream that fails', () => {
  const failed = { type: 'response.failed', response: { id: 'r', status: 'failed', error: { code: 'server_error', message: 'b' } } };

  test.each([
    ['nested', { type: 'error', error: { code: 'insufficient_quota', message: 'a' } }],
    ['flat', { type: 'error', code: 'insufficient_quota', message: 'a' }],
  ])('tells one error, whether it is %s', (_form, error) => {
    expect(steps(created, error, failed).slice(1)).toEqual([{ type: 'error', error: { kind: 'quota', message: 'a', status: 200 } }]);
  });

  test('tells the error of a failed response, with the wait in its words', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Please try again in 1.2s.' };
    const events = steps(created, { type: 'response.failed', response: { id: 'r', status: 'failed', error } });
    expect(events.at(-1)).toEqual({
      type: 'error',
      error: { kind: 'rate-limit', message: 'Please try again in 1.2s.', status: 200, retryAfterMs: 1200 },
    });
  });

  test('is an error when it ends early, once', () => {
    const reader = stepper();
    reader.step({ event: '', data: JSON.stringify(created) });
    expect(reader.end()).toEqual([
      { type: 'error', error: { kind: 'server', message: 'the engine closed the stream early', status: 200 } },
    ]);
    expect(reader.end()).toEqual([]);
  });
});
