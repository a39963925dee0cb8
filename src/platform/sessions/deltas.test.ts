import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { IrEvent } from '../../ir/event.ts';
import { type Delta, DeltaGatherer, Deltas, relayedDelta } from './deltas.ts';
import { type Heard, Hub } from './hub.ts';

const SOURCE = { sessionId: 'session_1', turnId: 'turn_1', messageId: 'msg_1', attempt: 1 };
const text: IrEvent = { type: 'part-start', index: 0, part: { kind: 'text' } };
const thinking: IrEvent = { type: 'part-start', index: 1, part: { kind: 'thinking' } };
const call: IrEvent = { type: 'part-start', index: 2, part: { kind: 'tool-call', id: 'c', name: 'add' } };
const grow = (index: number, more: string): IrEvent => ({ type: 'part-delta', index, text: more });

function deltaOf(delta: string, offset: number, attempt = 1): Delta {
  return { type: 'output.message.delta', data: { turn_id: 'turn_1', message_id: 'msg_1', attempt, offset, delta } };
}

describe('deltas', () => {
  test('carry the attempt and where they begin, for text and thinking apart', () => {
    const hub = new Hub();
    const heard: Heard[] = [];
    hub.listen('session_1', (one) => heard.push(one));
    const { onEvent } = new Deltas(hub).begin(SOURCE);
    for (const event of [text, grow(0, 'He'), thinking, grow(1, 'Hm'), grow(0, 'llo'), call, grow(2, '{}'), grow(0, '')]) onEvent(event);
    expect(heard.map((one) => (one.kind === 'delta' ? [one.delta.type, one.delta.data.offset, one.delta.data.delta] : one.kind))).toEqual([
      ['output.message.delta', 0, 'He'],
      ['reason.thinking.delta', 0, 'Hm'],
      ['output.message.delta', 2, 'llo'],
    ]);
  });

  test('of a second try begin with a reset', () => {
    const hub = new Hub();
    const heard: Heard[] = [];
    hub.listen('session_1', (one) => heard.push(one));
    const deltas = new Deltas(hub);
    deltas.begin({ ...SOURCE, attempt: 4 }).onEvent(text);
    expect(heard).toEqual([
      { kind: 'delta', delta: { type: 'output.message.reset', data: { turn_id: 'turn_1', message_id: 'msg_1', attempt: 4 } } },
    ]);
  });

  test('are there as a whole for somebody who comes late, until the answer is complete', () => {
    const deltas = new Deltas(new Hub());
    const { onEvent } = deltas.begin(SOURCE);
    for (const event of [text, grow(0, 'He'), grow(0, 'llo')]) onEvent(event);
    expect(deltas.soFar('session_1')).toEqual([deltaOf('Hello', 0)]);
    deltas.end('session_1');
    expect(deltas.soFar('session_1')).toEqual([]);
  });
});

describe('deltas for other processes', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('are joined while they continue each other, and sent a moment later', () => {
    const sent: (readonly string[])[] = [];
    const gatherer = new DeltaGatherer('worker_1', (payloads) => sent.push(payloads));
    for (const delta of [deltaOf('He', 0), deltaOf('llo', 2)]) gatherer.add('session_1', delta);
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(50);
    expect(sent.flat().map((payload) => relayedDelta(payload, 'worker_2'))).toEqual([
      { sessionId: 'session_1', delta: deltaOf('Hello', 0) },
    ]);
    expect(sent.flat().map((payload) => relayedDelta(payload, 'worker_1'))).toEqual([undefined]);
  });

  test('are forgotten when their answer is complete before they were sent', () => {
    const sent: (readonly string[])[] = [];
    const gatherer = new DeltaGatherer('worker_1', (payloads) => sent.push(payloads));
    gatherer.add('session_1', deltaOf('He', 0));
    gatherer.drop('session_1');
    vi.advanceTimersByTime(50);
    expect(sent).toEqual([]);
  });

  test('always fit a notice of the database', () => {
    const sent: (readonly string[])[] = [];
    const gatherer = new DeltaGatherer('worker_1', (payloads) => sent.push(payloads));
    for (let at = 0; at < 100; at += 1) gatherer.add('session_1', deltaOf('ü'.repeat(100), at * 100));
    gatherer.add('session_1', deltaOf('x'.repeat(9000), 10_000));
    vi.advanceTimersByTime(50);
    for (const payload of sent.flat()) expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(7900);
    const lengths = sent.flat().map((payload) => String(relayedDelta(payload, '')?.delta.data.delta).length);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(10_000);
  });

  test('are not taken from anything that is none', () => {
    for (const payload of ['', '{', '{"session":"s"}', '{"session":"s","type":"other","data":{}}']) {
      expect(relayedDelta(payload, 'worker_1')).toBeUndefined();
    }
  });
});
