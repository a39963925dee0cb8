import type { ModelCapabilities } from '../../contract/runs/coding-agent.ts';

/** A price per million tokens as tables show it. */
export function price(value: number | undefined): string {
  return value === undefined ? '-' : `$${value}`;
}

/** Tokens in thousands or millions. */
export function tokens(count: number): string {
  if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(2))}M`;
  return count >= 1000 ? `${Math.round(count / 1000)}k` : String(count);
}

/** US dollars with as many digits as small sums need. */
export function dollars(value: number): string {
  return `$${value.toFixed(value >= 1 || value === 0 ? 2 : 6)}`;
}

export function thinkingWords({ supportsThinking, thinkingEffortLevels, thinkingBudgetRange }: ModelCapabilities): string {
  if (!supportsThinking) return 'no';
  const levels = thinkingEffortLevels === undefined ? 'yes' : thinkingEffortLevels.join(' ');
  return thinkingBudgetRange === undefined ? levels : `${levels}, ${thinkingBudgetRange[0]} to ${thinkingBudgetRange[1]} tokens`;
}
