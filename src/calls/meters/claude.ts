import { type JsonObject, objectIn } from '../../base/json.ts';
import type { Observed } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import { type Answered, type Asked, estimatedUsage, type Meter, tokensOfBytes, withModel } from './meter.ts';
import type { Row } from './rows.ts';

const CLAUDE = 'claude';

/** Paths of Claude's API. */
export const CLAUDE_METERS: readonly Meter[] = [
  // The prompts of before messages tell no usage.
  { method: 'POST', path: /\/v1\/complete$/, dialects: [CLAUDE], reader: CLAUDE, asks: true, complete: completed },
  { method: 'GET', path: /\/messages\/batches\/[^/]+\/results$/, dialects: [CLAUDE], retold: true, row: batchRow },
];

/** A line of the results of a batch. */
function batchRow({ custom_id: id, result }: JsonObject): Row | undefined {
  const message = objectIn(objectIn(result)?.message);
  if (id === undefined || result === undefined) return undefined;
  return message === undefined ? {} : findDialect(CLAUDE)?.observeBody(JSON.stringify(message));
}

function completed(seen: Observed, { fields, bytes }: Asked, answered: Answered): Observed {
  const named = withModel(seen, fields.model);
  return seen.error === undefined ? { ...named, usage: estimatedUsage(tokensOfBytes(bytes), tokensOfBytes(answered.bytes)) } : named;
}
