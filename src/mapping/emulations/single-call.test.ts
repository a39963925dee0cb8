import { expect, test } from 'vitest';
import type { IrAnswerEvent } from '../../ir/event.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { SingleCallFilter } from './single-call.ts';

test('only the first call of an answer passes, with everything that is no call', () => {
  const filter = new SingleCallFilter();
  const start = (index: number, id: string): IrAnswerEvent => ({
    type: 'part-start',
    index,
    part: { kind: 'tool-call', id, name: 'look' },
  });
  const events: IrAnswerEvent[] = [
    { type: 'message-start' },
    { type: 'part-start', index: 0, part: { kind: 'text' } },
    { type: 'part-delta', index: 0, text: 'hm' },
    { type: 'part-end', index: 0 },
    start(1, 'a'),
    start(2, 'b'),
    { type: 'part-delta', index: 2, text: '{}' },
    { type: 'part-delta', index: 1, text: '{"x":1}' },
    { type: 'part-end', index: 1 },
    { type: 'part-end', index: 2 },
    { type: 'message-end', finish: 'tool-calls', usage: NO_USAGE },
  ];
  expect(events.flatMap((event) => filter.filter(event))).toEqual(events.filter((event) => !('index' in event) || event.index !== 2));
});
