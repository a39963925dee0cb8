import type { IrEvent } from '../../ir/event.ts';
import type { SimStep, WholePart } from './plan.ts';
import type { Stage } from './stages.ts';

/** Keeps a long answer from becoming a flood of tiny events. */
const MAX_DELTAS = 256;

/** The events of the parts, in order and one part after the other. */
export function partEvents(parts: readonly WholePart[]): IrEvent[] {
  return parts.flatMap((part, index): IrEvent[] => [
    { type: 'part-start', index, part: part.start },
    ...deltas(part).map((text): IrEvent => ({ type: 'part-delta', index, text })),
    {
      type: 'part-end',
      index,
      ...(part.endMeta === undefined ? {} : { meta: part.endMeta }),
      ...(part.citations === undefined ? {} : { citations: part.citations }),
    },
  ]);
}

/** Words with the space after them; arguments of a call in pieces of 24 characters. Neither splits a code point. */
function deltas({ start, text }: WholePart): string[] {
  const pieces = text.match(start.kind === 'tool-call' ? /[\s\S]{1,24}/gu : /\S+\s*|\s+/gu) ?? [];
  const size = Math.ceil(pieces.length / MAX_DELTAS);
  if (size <= 1) return pieces;
  return Array.from({ length: Math.ceil(pieces.length / size) }, (_, at) => pieces.slice(at * size, (at + 1) * size).join(''));
}

/** Puts the waits of the stage between the events and breaks them off where it says so. */
export function stepsOf(events: readonly IrEvent[], stage: Stage): SimStep[] {
  const kept = stage.cut ? events.slice(0, cutAt(events)) : events;
  const first = kept.findIndex((event) => event.type === 'part-delta');
  const paced = kept.flatMap((event, at): SimStep[] => {
    const pause = stage.paceMs > 0 && event.type === 'part-delta' && at > first;
    return [...(pause ? [wait(stage.paceMs)] : []), { kind: 'event', event }];
  });
  return [...(stage.waitMs > 0 ? [wait(stage.waitMs)] : []), ...paced, ...(stage.cut ? [{ kind: 'cut' } as const] : [])];
}

function wait(ms: number): SimStep {
  return { kind: 'wait', ms };
}

/** After half of the deltas; after the start where there are none. The end of the part never comes. */
function cutAt(events: readonly IrEvent[]): number {
  const at = events.flatMap((event, index) => (event.type === 'part-delta' ? [index] : []));
  return (at[Math.ceil(at.length / 2) - 1] ?? 0) + 1;
}
