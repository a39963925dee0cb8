import { expect, it } from 'vitest';
import type { IrAnswerEvent } from '../ir/event.ts';
import { type IrUsage, NO_USAGE } from '../ir/usage.ts';
import { AnswerChanges, inputEstimate } from './answer-changes.ts';

function usages(told: IrUsage): (IrUsage | undefined)[] {
  const { filter } = inputEstimate(12);
  const events: IrAnswerEvent[] = [
    { type: 'message-start', id: 'a', model: 'm' },
    { type: 'part-start', index: 0, part: { kind: 'text' } },
    { type: 'part-delta', index: 0, text: 'twelve chars' },
    { type: 'part-end', index: 0 },
    { type: 'message-end', finish: 'stop', usage: told },
  ];
  return events.flatMap(filter).flatMap((event) => (event.type === 'message-start' || event.type === 'message-end' ? [event.usage] : []));
}

const estimate = { ...NO_USAGE, inputTokens: 12, estimated: true };

it('the beginning has an estimate and the end what the engine says', () => {
  const told = { ...NO_USAGE, inputTokens: 9, outputTokens: 5 };
  expect(usages(told)).toEqual([estimate, told]);
});

it('an engine that never says is counted for, and the counts are marked', () => {
  expect(usages(NO_USAGE)).toEqual([estimate, { ...estimate, outputTokens: 3 }]);
});

it('further answers have no usage of their own', () => {
  const changes = new AnswerChanges([{ kind: 'input-estimate', tokens: 12 }]);
  const end = { type: 'message-end', finish: 'stop', usage: NO_USAGE } as const;
  expect(changes.filter({ type: 'choice', choice: 1, event: end })).toEqual([{ type: 'choice', choice: 1, event: end }]);
});
