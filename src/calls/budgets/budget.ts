import { z } from 'zod';
import { plainName } from '../../contract/plain-name.ts';

/** The kinds of things that a budget may be for. */
export const SUBJECTS = ['key', 'user', 'team', 'tag', 'agent', 'engine'] as const;
export type SubjectKind = (typeof SUBJECTS)[number];

export const PERIODS = ['hour', 'day', 'week', 'month', 'total'] as const;
export type Period = (typeof PERIODS)[number];

/** The measures that a budget can limit. */
export const MEASURES = ['nanoUsd', 'tokens', 'requests'] as const;
export type Measure = (typeof MEASURES)[number];

/** An amount of each measure. */
export type Amounts = Record<Measure, number>;

export function nothing(): Amounts {
  return { nanoUsd: 0, tokens: 0, requests: 0 };
}

/** The most that may be spent on somebody's or something's behalf in a period. */
export interface Budget {
  readonly id: string;
  readonly on: { readonly kind: SubjectKind; readonly id: string };
  readonly period: Period;
  /** An absent measure is not held. */
  readonly limits: Readonly<Partial<Amounts>>;
  /** `warn` counts and tells, and refuses nothing. */
  readonly action: 'refuse' | 'warn';
}

const limit = z.int().positive().optional();

const subject = plainName().min(1).optional();

const SubjectNames = z.strictObject({
  key: subject.describe('A key by its id, with the runs it asks for; local: callers without a key.'),
  user: subject.describe('All keys of a user.'),
  team: subject.describe('All keys of a team and of its users.'),
  tag: subject.describe('All calls with this tag.'),
  agent: subject.describe('A coding agent, or an agent by its id.'),
  engine: subject.describe('An engine by its id.'),
});

/** A budget in the words of the API and of the configuration. */
export const BudgetTerms = z.strictObject({
  on: SubjectNames.refine((on) => Object.values(on).filter((id) => id !== undefined).length === 1, {
    error: `must name exactly one of ${SUBJECTS.join(', ')}`,
  }).describe('For whom or what it is.'),
  period: z.enum(PERIODS).describe('Periods begin with the hour, the day, the Monday or the month, by UTC; total never begins anew.'),
  limit_nano_usd: limit.describe('Billionths of a US dollar.'),
  limit_tokens: limit.describe('Tokens, sent and answered.'),
  limit_requests: limit.describe('Calls to engines.'),
  action: z.enum(['refuse', 'warn']).default('refuse').describe('What becomes of calls beyond it: refused, or only told about.'),
});
export type BudgetTerms = z.infer<typeof BudgetTerms>;

/** A budget that holds nothing is a mistake. */
export function hasLimit({ limit_nano_usd: usd, limit_tokens: tokens, limit_requests: requests }: Partial<BudgetTerms>): boolean {
  return usd !== undefined || tokens !== undefined || requests !== undefined;
}

/** The budget that these terms describe. */
export function budgetOf(id: string, { on, period, action, ...limits }: BudgetTerms): Budget {
  const kind = SUBJECTS.find((name) => on[name] !== undefined) ?? 'key';
  const { limit_nano_usd: nanoUsd, limit_tokens: tokens, limit_requests: requests } = limits;
  return {
    id,
    on: { kind, id: on[kind] ?? '' },
    period,
    action,
    limits: {
      ...(nanoUsd === undefined ? {} : { nanoUsd }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(requests === undefined ? {} : { requests }),
    },
  };
}
