import { describe, expect, it } from 'vitest';
import { Accumulator, Snapshots, withAccumulated } from './accumulator.ts';

const text = (delta: string) => ({ type: 'text_delta', delta });

describe('what accumulates', () => {
  it('can be asked of an event and stands in no JSON of it', () => {
    const accumulator = new Accumulator();
    const [, event] = [text('a'), text('b')].map((one) => withAccumulated(one, accumulator.fields(one)));
    expect(event).toHaveProperty('accumulated', 'ab');
    expect(JSON.stringify(event)).toBe('{"type":"text_delta","delta":"b"}');
  });
});

describe('a reader who comes late', () => {
  it('gets the beginning that it has missed with the next piece, once, and nothing of later texts', () => {
    const snapshots = new Snapshots();
    for (const event of [{ type: 'message_start' }, text('a'), text('b')]) snapshots.skip(event);
    const got = [text('c'), text('d'), { type: 'message_stop' }, { type: 'message_start' }, text('e'), text('f')].map((one) =>
      snapshots.next(one),
    );
    expect(got).toEqual([{ accumulated: 'abc' }, {}, {}, {}, {}, {}]);
  });

  it('gets nothing twice of a text that had ended before it came', () => {
    const snapshots = new Snapshots();
    for (const event of [text('a'), { type: 'message_stop' }]) snapshots.skip(event);
    expect(snapshots.next(text('b'))).toEqual({});
  });

  it('gets the input of each tool call that it came into', () => {
    const snapshots = new Snapshots();
    const input = (toolCallId: string, delta: string) => ({ type: 'tool_input_delta', toolCallId, delta });
    for (const event of [{ type: 'tool_call_start', toolCallId: '1' }, input('1', '{'), { type: 'tool_call_start', toolCallId: '2' }])
      snapshots.skip(event);
    expect([input('2', '['), input('1', '}'), input('1', ' ')].map((one) => snapshots.next(one))).toEqual([
      {},
      { inputAccumulated: '{}' },
      {},
    ]);
  });
});
