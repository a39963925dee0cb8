import type { RunOptions } from '../../../contract/runs/run-options.ts';
import type { Unhonoured } from './thinking.ts';

/** The options that an agent cannot take, as rows; only those that the run has set. */
export function unhonoured(options: RunOptions, reasons: Partial<Record<keyof RunOptions, string>>): Unhonoured {
  return Object.entries(reasons)
    .filter(([option]) => isSet(options, option))
    .map(([option, reason]) => ({ option, reason }));
}

function isSet(options: RunOptions, option: string): boolean {
  const value = Object.entries(options).find(([name]) => name === option)?.[1];
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** The answer length a run asks for; the newer of the two names wins. */
export function outputLimit(options: RunOptions): number | undefined {
  return options.maxOutputTokens ?? options.maxTokens;
}
