import type { ThinkingEffortLevel } from '../../../contract/runs/coding-agent.ts';
import { THINKING_EFFORT_LEVELS } from '../../../contract/runs/coding-agent.ts';
import type { RunOptions } from '../../../contract/runs/run-options.ts';
import type { SpawnPlan, ThinkingDelivery } from '../../adapter.ts';

/** The caller's wish for thinking, whichever names the agent's own parameters have. */
export interface ThinkingWish {
  /** The level that was asked for, or the nearest to a budget that was. */
  readonly level: ThinkingEffortLevel;
  /** A number of tokens that was asked for as such. */
  readonly budgetTokens?: number;
  /** The number of tokens that the normalised parameters hold, for agents that take one. */
  readonly tokens?: number;
  /** Parameters of the override that are neither a level nor a budget. */
  readonly unknown: readonly string[];
}

/** Every word for an effort that the gateway can set. */
const EFFORT_WORDS_ON_WIRE: readonly unknown[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

const BUDGET_NAMES = ['budget_tokens', 'budgetTokens', 'thinkingBudget'];
const EFFORT_NAMES = ['effort', 'reasoning_effort', 'reasoningEffort', 'thinking_level', 'thinkingLevel', 'level'];

/** Names of an override that mean a budget or a level. */
export const THINKING_NAMES: readonly string[] = [...BUDGET_NAMES, ...EFFORT_NAMES];

/** Undefined when the run says nothing about thinking. */
export function thinkingWish(plan: Pick<SpawnPlan, 'options' | 'thinking'>): ThinkingWish | undefined {
  const { thinkingEffort, thinkingBudgetTokens, thinkingOverride = {} } = plan.options;
  const overrideBudget = tokensIn(thinkingOverride);
  const tokens = tokensIn(plan.thinking);
  const overrideLevel = EFFORT_NAMES.map((name) => levelIn(thinkingOverride[name])).find((level) => level !== undefined);
  const budgetTokens = overrideBudget ?? thinkingBudgetTokens;
  const level = overrideLevel ?? (budgetTokens === undefined ? thinkingEffort : nearestLevel(budgetTokens));
  const unknown = Object.keys(thinkingOverride).filter((name) => !BUDGET_NAMES.includes(name) && !EFFORT_NAMES.includes(name));
  if (level === undefined) return unknown.length === 0 ? undefined : { level: 'medium', unknown };
  return { level, unknown, ...(budgetTokens !== undefined && { budgetTokens }), ...(tokens !== undefined && { tokens }) };
}

function tokensIn(parameters: Readonly<Record<string, unknown>>): number | undefined {
  return BUDGET_NAMES.map((name) => parameters[name]).find((value) => typeof value === 'number');
}

function levelIn(value: unknown): ThinkingEffortLevel | undefined {
  return THINKING_EFFORT_LEVELS.find((level) => level === value);
}

/** A word for an effort in the override; null for one that the gateway does not know, which only the agent can pass on. */
export function overrideWord({ thinkingOverride = {} }: RunOptions): string | null | undefined {
  const given = EFFORT_NAMES.map((name) => thinkingOverride[name]).find((value) => value !== undefined);
  if (given === undefined) return undefined;
  const word = typeof given === 'string' ? given.toLowerCase() : given;
  return typeof word === 'string' && EFFORT_WORDS_ON_WIRE.includes(word) ? word : null;
}

/** The steps of the normalised table, read backwards. */
function nearestLevel(budgetTokens: number): ThinkingEffortLevel {
  if (budgetTokens <= 1024) return 'low';
  if (budgetTokens <= 8192) return 'medium';
  return budgetTokens <= 32_768 ? 'high' : 'max';
}

export const NO_THINKING: ThinkingDelivery = { by: 'none', detail: 'nothing was asked for' };

/** Options that no way of the agent carries, each with the reason. */
export type Unhonoured = readonly { readonly option: string; readonly reason: string }[];

/** Parameters of an override that reach nobody. */
export function unknownOverrides(wish: ThinkingWish | undefined): Unhonoured {
  return (wish?.unknown ?? []).map((name) => ({
    option: `thinkingOverride.${name}`,
    reason: 'the agent has no such parameter and the gateway sets levels and budgets only',
  }));
}
