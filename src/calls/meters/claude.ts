import type { Observed } from '../../dialects/dialect.ts';
import { type Answered, type Asked, estimatedUsage, type Meter, tokensOfBytes, withModel } from './meter.ts';

const CLAUDE = 'claude';

/** Paths of Claude's API. */
export const CLAUDE_METERS: readonly Meter[] = [
  // The prompts of before messages tell no usage.
  { method: 'POST', path: /\/v1\/complete$/, dialects: [CLAUDE], reader: CLAUDE, asks: true, complete: completed },
];

function completed(seen: Observed, { fields, bytes }: Asked, answered: Answered): Observed {
  const named = withModel(seen, fields.model);
  return seen.error === undefined ? { ...named, usage: estimatedUsage(tokensOfBytes(bytes), tokensOfBytes(answered.bytes)) } : named;
}
