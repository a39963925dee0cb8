import { CATEGORIES, type Category } from './case.ts';
import type { Result } from './suite.ts';

/** How many cases passed, failed and were skipped. */
export interface Tally {
  readonly pass: number;
  readonly fail: number;
  readonly skip: number;
}

/** One row of the table: a dialect with the tally of each category that was asked. */
interface DialectSummary {
  readonly dialect: string;
  /** Passthrough or mapped, where the gateway tells. */
  readonly mode: string | null;
  readonly categories: Readonly<Partial<Record<Category, Tally>>>;
}

export interface Summary extends Tally {
  readonly dialects: readonly DialectSummary[];
  /** Each reason to skip, with how many cases had it. */
  readonly reasons: Readonly<Record<string, number>>;
}

function tally(results: readonly Result[]): Tally {
  const count = (outcome: Result['outcome']): number => results.filter((result) => result.outcome === outcome).length;
  return { pass: count('pass'), fail: count('fail'), skip: count('skip') };
}

/** Results by dialect and category. */
export function summarize(results: readonly Result[]): Summary {
  const reasons: Record<string, number> = {};
  for (const { reason } of results) if (reason !== undefined) reasons[reason] = (reasons[reason] ?? 0) + 1;
  const dialects = [...Map.groupBy(results, ({ dialect }) => dialect)].map(([dialect, own]) => ({
    dialect,
    mode: own[0]?.mode ?? null,
    categories: Object.fromEntries(
      CATEGORIES.map((category) => [category, own.filter((result) => result.category === category)] as const)
        .filter(([, cases]) => cases.length > 0)
        .map(([category, cases]) => [category, tally(cases)]),
    ),
  }));
  return { ...tally(results), dialects, reasons };
}

/** Conforming means that something was asked and nothing failed. */
export function conforms({ pass, fail }: Tally): boolean {
  return fail === 0 && pass > 0;
}
