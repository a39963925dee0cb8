/** The most an agent may be. */
export const AGENT_LIMITS = {
  name: 200,
  description: 10_000,
  systemPrompt: 500_000,
  model: 300,
  tags: 50,
  tag: 200,
  capabilities: 100,
  iterations: 1000,
  costUsd: 100_000,
  /** Money is counted in billionths; less would be no budget at all. */
  leastCostUsd: 1e-9,
} as const;

const NANO = 1_000_000_000;

/** Money is whole nano-dollars inside and dollars outside. */
export function nanoUsd(dollars: number): number {
  return Math.round(dollars * NANO);
}

export function usd(nano: number): number {
  return nano / NANO;
}
