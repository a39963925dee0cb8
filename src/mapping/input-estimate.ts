import type { IrAnswerEvent } from '../ir/event.ts';
import { tokensIn } from '../ir/token-estimate.ts';
import { type IrUsage, NO_USAGE } from '../ir/usage.ts';
import type { AnswerFilter } from './answer-filter.ts';

/**
 * Callers whose stream begins with the input count decide by it when to compact their context, and most engines tell it only at the
 * end. The beginning gets an estimate; the end has the engine's own counts, or estimates too where the engine never tells any.
 */
export function inputEstimate(tokens: number): AnswerFilter {
  let written = 0;
  const estimated = (usage: IrUsage): IrUsage => ({
    ...usage,
    inputTokens: tokens,
    outputTokens: usage.outputTokens === 0 ? tokensIn(written) : usage.outputTokens,
    estimated: true,
  });
  return {
    filter: (event: IrAnswerEvent) => {
      if (event.type === 'part-delta') written += event.text.length;
      if (event.type !== 'message-start' && event.type !== 'message-end') return [event];
      const usage = event.usage ?? NO_USAGE;
      return [usage.inputTokens > 0 ? event : { ...event, usage: estimated(usage) }];
    },
  };
}
