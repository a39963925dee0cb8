import type { JsonObject } from '../../base/json.ts';
import type { IrEffort, IrThinking } from '../../ir/request.ts';
import { compact } from '../members.ts';

/** Budgets by which Google's own compatibility layer replaces an effort, for models that have budgets instead of levels. */
const BUDGETS: Readonly<Record<IrEffort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};
const LEVELS: Readonly<Record<IrEffort, string>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

/** Budgets that a model answers without 400, by trait; more special ones first. */
const RANGES: readonly { readonly trait: string; readonly least: number; readonly most: number; readonly off: boolean }[] = [
  { trait: 'flash-lite-budget', least: 512, most: 24_576, off: true },
  { trait: 'flash-budget', least: 0, most: 24_576, off: true },
  { trait: 'pro-budget', least: 128, most: 32_768, off: false },
];

/** How much the model is to think, as its generation says it: a level or a budget, of those that it takes. */
export function lowerMeasure(
  thinking: IrThinking | undefined,
  effort: IrEffort | undefined,
  traits: ReadonlySet<string>,
): JsonObject & { readonly thinkingLevel?: string } {
  if (!traits.has('thinking-level')) return { thinkingBudget: fitBudget(budgetOf(thinking, effort), traits) };
  const level = levelOf(thinking, effort);
  return compact({ thinkingLevel: level === undefined ? undefined : fitLevel(level, traits) });
}

/** A number beside thinking that adapts says nothing. */
export function wishedBudget(thinking: IrThinking | undefined): number | undefined {
  return thinking?.mode === 'enabled' ? thinking.budgetTokens : undefined;
}

/** -1 leaves the budget to the model. */
function budgetOf(thinking: IrThinking | undefined, effort: IrEffort | undefined): number {
  if (thinking?.mode === 'disabled') return 0;
  return wishedBudget(thinking) ?? (effort === undefined ? -1 : BUDGETS[effort]);
}

function fitBudget(budget: number, traits: ReadonlySet<string>): number {
  const range = RANGES.find(({ trait }) => traits.has(trait));
  if (range === undefined || budget === -1 || (budget === 0 && range.off)) return budget;
  return Math.min(Math.max(budget, range.least), range.most);
}

/** Models with levels cannot stop thinking; the lowest level is nearest. Without a wish the model decides. */
function levelOf(thinking: IrThinking | undefined, effort: IrEffort | undefined): string | undefined {
  if (thinking?.mode === 'disabled') return LEVELS.none;
  if (effort !== undefined) return LEVELS[effort];
  const budget = wishedBudget(thinking);
  if (budget === undefined) return undefined;
  return budget < 4096 ? LEVELS.low : budget < 16_384 ? LEVELS.medium : LEVELS.high;
}

function fitLevel(level: string, traits: ReadonlySet<string>): string {
  if (level === 'MINIMAL' && traits.has('no-minimal-level')) return 'LOW';
  return level === 'MEDIUM' && traits.has('no-medium-level') ? 'HIGH' : level;
}
