import { THINKING_EFFORT_LEVELS } from '../../contract/runs/coding-agent.ts';
import type { ListPrice, ModelFact, ThinkingFact } from '../model-fact.ts';

// Limits and prices: the vendor's model pages and the lists that Claude Code 2.1.328 and pi 1.5.2 carry, 2026-11-20.

const MILLION = 1_000_000;

/** From 4.7 on the vendor takes an effort and answers 400 to a budget. */
const adaptive: ThinkingFact = { levels: THINKING_EFFORT_LEVELS, most: 127_999 };

/** A budget is at least 1024 tokens and less than the output limit. */
const budgeted = (maxOutputTokens: number): ThinkingFact => ({ levels: THINKING_EFFORT_LEVELS, budget: [1024, maxOutputTokens - 1] });

function claude(id: string, name: string, price: ListPrice, rest: Partial<ModelFact> = {}): ModelFact {
  return {
    id,
    name,
    provider: 'anthropic',
    protocol: 'messages',
    contextWindow: MILLION,
    maxOutputTokens: 128_000,
    price,
    thinking: adaptive,
    images: true,
    files: true,
    jsonMode: true, // by a schema; the vendor has no mode that is any JSON
    structuredOutput: true,
    ...rest,
  };
}

const small = { contextWindow: 200_000, maxOutputTokens: 64_000, thinking: budgeted(64_000) };

export const anthropic = {
  opus55: claude('claude-opus-5-5', 'Claude Opus 5.5', { input: 4, output: 20, cached: 0.2, cacheWrite: 5 }),
  fable52: claude('claude-fable-5-2', 'Claude Fable 5.2', { input: 8, output: 40, cached: 0.2, cacheWrite: 10 }),
  sonnet55: claude('claude-sonnet-5-5', 'Claude Sonnet 5.5', { input: 2, output: 10, cached: 0.1, cacheWrite: 2.5 }),
  haiku55: claude(
    'claude-haiku-5-5',
    'Claude Haiku 5.5',
    { input: 0.1, output: 0.5, cached: 0.01, cacheWrite: 0.125 },
    { tiers: [{ inputTokensAbove: 100_000, input: 0.5, output: 2.5, cached: 0.05, cacheWrite: 0.625 }] },
  ),
  fable51: claude('claude-fable-5-1', 'Claude Fable 5.1', { input: 10, output: 50, cached: 0.25, cacheWrite: 12.5 }),
  opus5: claude('claude-opus-5', 'Claude Opus 5', { input: 5, output: 25, cached: 0.5, cacheWrite: 6.25 }),
  sonnet5: claude('claude-sonnet-5', 'Claude Sonnet 5', { input: 2, output: 10, cached: 0.2, cacheWrite: 2.5 }),
  opus48: claude('claude-opus-4-8', 'Claude Opus 4.8', { input: 5, output: 25, cached: 0.5, cacheWrite: 6.25 }),
  opus47: claude('claude-opus-4-7', 'Claude Opus 4.7', { input: 5, output: 25, cached: 0.5, cacheWrite: 6.25 }),
  opus46: claude(
    'claude-opus-4-6',
    'Claude Opus 4.6',
    { input: 5, output: 25, cached: 0.5, cacheWrite: 6.25 },
    { thinking: budgeted(128_000) },
  ),
  sonnet46: claude(
    'claude-sonnet-4-6',
    'Claude Sonnet 4.6',
    { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 },
    { thinking: budgeted(128_000) },
  ),
  opus45: claude(
    'claude-opus-4-5',
    'Claude Opus 4.5',
    { input: 5, output: 25, cached: 0.5, cacheWrite: 6.25 },
    { ...small, datedId: 'claude-opus-4-5-20251101' },
  ),
  sonnet45: claude(
    'claude-sonnet-4-5',
    'Claude Sonnet 4.5',
    { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 },
    { ...small, datedId: 'claude-sonnet-4-5-20250929' },
  ),
  haiku45: claude(
    'claude-haiku-4-5',
    'Claude Haiku 4.5',
    { input: 1, output: 5, cached: 0.1, cacheWrite: 1.25 },
    { ...small, datedId: 'claude-haiku-4-5-20251001' },
  ),
  /** Retired by the vendor on the date given; requests fail. */
  opus4: claude(
    'claude-opus-4-20250514',
    'Claude Opus 4',
    { input: 15, output: 75, cached: 1.5, cacheWrite: 18.75 },
    {
      contextWindow: 200_000,
      maxOutputTokens: 32_000,
      thinking: budgeted(32_000),
      structuredOutput: false,
      deprecated: { since: '2026-06-15', successor: 'claude-opus-4-8' },
    },
  ),
  sonnet4: claude(
    'claude-sonnet-4-20250514',
    'Claude Sonnet 4',
    { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 },
    {
      ...small,
      structuredOutput: false,
      deprecated: { since: '2026-06-15', successor: 'claude-sonnet-4-6' },
    },
  ),
} as const satisfies Record<string, ModelFact>;
