import type { JsonObject } from '../../base/json.ts';
import type { ThinkingWish } from '../families/launch/thinking.ts';

/** For a model that is in no catalogue; a known one has its own numbers in the wish. */
const BUDGETS = { low: 1024, medium: 8192, high: 32_768, max: 32_768 } as const;
/** OpenAI’s word for the highest level. */
const EFFORTS = { low: 'low', medium: 'medium', high: 'high', max: 'xhigh' } as const;

const LEVELS = { low: 'low', medium: 'medium', high: 'high', max: 'high' } as const;

/** The options of the AI SDK package of a dialect that carry the wish. */
export function variantOf(dialect: string, model: string, wish: ThinkingWish): JsonObject {
  const { level } = wish;
  const tokens = wish.budgetTokens ?? wish.tokens ?? BUDGETS[level];
  switch (dialect) {
    case 'claude':
      return { thinking: { type: 'enabled', budgetTokens: tokens } };
    case 'gemini':
      return { thinkingConfig: { includeThoughts: true, ...geminiLevel(model, level, tokens) } };
    case 'openai-responses':
      return { reasoningEffort: EFFORTS[level], reasoningSummary: 'auto' };
    default:
      return { reasoningEffort: EFFORTS[level] };
  }
}

/** The agent gives every newer model a level by itself, and the vendor refuses a budget beside one; models of 2.5 have budgets only. */
function geminiLevel(model: string, level: ThinkingWish['level'], thinkingBudget: number): JsonObject {
  return model.includes('2.5') ? { thinkingBudget } : { thinkingLevel: LEVELS[level] };
}
