import { z } from 'zod';
import { BudgetTerms, hasLimit, PERIODS } from '../../calls/budgets/budget.ts';

const NO_LIMIT = { error: 'needs at least one of limit_nano_usd, limit_tokens and limit_requests' };

export const NewBudget = BudgetTerms.refine(hasLimit, NO_LIMIT);

const changed = z.int().positive().nullable().optional();

/** The members of a budget that an operator may change; whom it is on and its window stay, because its sums are counted by them. */
export const BudgetChange = z.strictObject({
  limit_nano_usd: changed.describe('Billionths of a US dollar; null: not held.'),
  limit_tokens: changed.describe('Tokens, sent and answered; null: not held.'),
  limit_requests: changed.describe('Calls to engines; null: not held.'),
  action: z.enum(['refuse', 'warn']).optional(),
});
export type BudgetChange = z.infer<typeof BudgetChange>;

const amounts = z.strictObject({ nano_usd: z.number(), tokens: z.number(), requests: z.number() });

export const BudgetView = z.strictObject({
  id: z.string(),
  on: z.record(z.string(), z.string()).describe('For whom or what it is: one of key, user, team, tag, agent and engine.'),
  period: z.enum(PERIODS),
  limit_nano_usd: z.number().optional(),
  limit_tokens: z.number().optional(),
  limit_requests: z.number().optional(),
  action: z.enum(['refuse', 'warn']),
  source: z.enum(['api', 'configuration']).describe('Where it was made; only one that was made here can be changed here.'),
  spent: amounts.describe('By calls that began in this period and have ended.'),
  reserved: amounts.describe('The most that calls which are under way on this node may use.'),
  unpriced_requests: z.number().describe('Calls of this period that a budget of dollars cannot count, because nobody knows their price.'),
  period_start: z.string().nullable(),
  resets_at: z.string().nullable().describe('When the next period begins; null for a total.'),
  created_at: z.string().nullable(),
});
export type BudgetView = z.infer<typeof BudgetView>;

export const BudgetList = z.strictObject({ items: z.array(BudgetView) });
export const BudgetParams = z.strictObject({ id: z.string() });
