import type { IrAnswerEvent } from '../ir/event.ts';
import { NO_USAGE } from '../ir/usage.ts';
import type { AnswerFilter } from './answer-filter.ts';

/**
 * Callers whose stream begins with the input count decide by it when to compact their context, and most engines tell it only at the
 * end. The beginning gets an estimate; the end has the engine's own count.
 */
export function inputEstimate(tokens: number): AnswerFilter {
  return {
    filter: (event: IrAnswerEvent) => {
      if (event.type !== 'message-start' || (event.usage?.inputTokens ?? 0) > 0) return [event];
      return [{ ...event, usage: { ...NO_USAGE, ...event.usage, inputTokens: tokens, estimated: true } }];
    },
  };
}
