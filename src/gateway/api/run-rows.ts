import { z } from 'zod';
import { Fate } from '../../contract/negotiation.ts';
import { Plane, RunStatus } from '../../contract/receipts/parts.ts';
import { Mode } from '../../contract/support.ts';
import { RunListQuery, RunSummary } from './runs.ts';

/** A date or a time, as milliseconds. */
export const time = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)), { error: 'is not a date or a time' })
  .transform((text) => Date.parse(text));

const count = z.int().nonnegative();
const coerced = z.coerce.number().nonnegative();

/** The orders that a list of runs can have. */
export const ROW_ORDERS = ['started', 'cost', 'duration', 'tokens'] as const;
export type RowOrder = (typeof ROW_ORDERS)[number];

/** A run in one line of a list. */
export const RunRow = RunSummary.extend({
  dialect: z.string().nullable(),
  mode: Mode.nullable(),
  agent: z.string().nullable().describe('The coding agent, or the agent of a turn.'),
  upstream_model: z.string().nullable().describe('As it was served.'),
  key_name: z.string().nullable().describe('The name of the key; null for calls without one, and for keys that are gone.'),
  tokens: z.strictObject({ in: count, out: count, cache_read: count, thinking: count }).nullable(),
  cost_nano_usd: count.nullable().describe('null: the model has no price.'),
  first_byte_ms: z.number().nullable(),
  total_ms: z.number().nullable(),
  fates: z.tuple([count, count, count, count, count]).describe('Fields that are exact, renamed, emulated, dropped, refused.'),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  children: count.nullable().describe('Model calls made for this run; null where nobody counts them.'),
  waiting: z.boolean().describe('Somebody has to answer before it goes on.'),
  sequence: count.nullable().describe('Its place in the chain.'),
});
export type RunRow = z.infer<typeof RunRow>;

/** Conditions that lines are asked for, beside those that the database selects by. */
export const rowFilters = {
  mode: Mode.optional(),
  fate: Fate.optional(),
  reason: z.string().optional().describe('Part of the reason or of the code of the error.'),
  agent: z.string().optional(),
  parent: z.string().optional().describe('Calls of this run.'),
  root: z.stringbool().optional().describe('true: only runs that no other run made.'),
  min_cost_nano_usd: coerced.optional(),
  min_ms: coerced.optional(),
  q: z.string().min(1).max(200).optional().describe('Text in task, model or message, or three or more digits of the id.'),
};

/** Which order a list has, and whether it is counted. */
export const listing = {
  sort: z
    .enum(ROW_ORDERS)
    .default('started')
    .describe('started: newest first, page by page. The others: greatest first among the newest 20,000 that fit, one page.'),
  total: z.stringbool().default(false).describe('true: how many there are, counted up to 10,000.'),
};

/** The count of a list. */
export const counted = {
  total: count.optional(),
  total_is: z.enum(['exact', 'at_least']).optional(),
};

/** By which lists of runs and of receipts choose. */
export const runFilters = {
  plane: Plane.optional(),
  engine: z.string().optional(),
  model: z.string().optional(),
  status: RunStatus.optional(),
  key: z.string().optional().describe('Id of the key that made the call, or its name.'),
  unkeyed: z.stringbool().optional().describe('true: only runs that were made without a key.'),
  tag: z.string().optional(),
  since: time.optional().describe('Started at this time or later; a date or an RFC 3339 time.'),
  until: time.optional().describe('Started before this time.'),
};

const filters = { ...runFilters, ...rowFilters };

export const RowQuery = z.strictObject(filters);
export type RowQuery = z.output<typeof RowQuery>;

export const RowStreamQuery = RowQuery.extend({
  after: z.string().optional().describe('A place (the id of an event) to go on after, like the header Last-Event-ID.'),
});

export const RunListOrRowsQuery = RunListQuery.extend({
  ...filters,
  ...listing,
  view: z.enum(['summary', 'row']).default('summary').describe('row: with tokens, cost, times and fates.'),
  before: time.optional().describe('Begins with the newest run before this time.'),
});
export type RunListOrRowsQuery = z.output<typeof RunListOrRowsQuery>;

export const RunRowList = z.strictObject({
  items: z.array(RunRow),
  next_cursor: z.string().optional(),
  ...counted,
});
export type RunRowList = z.infer<typeof RunRowList>;

const METRICS = ['cost', 'tokens', 'runs', 'first_byte', 'total'] as const;
const GROUPS = ['engine', 'model', 'key', 'agent', 'tag', 'status', 'mode', 'error', 'fate'] as const;

const listOf = <T extends readonly [string, ...string[]]>(values: T) =>
  z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(values)).min(1).max(values.length));

export const UsageQuery = z.strictObject({
  ...filters,
  metric: listOf(METRICS).default(['cost', 'tokens', 'runs']),
  group_by: listOf(GROUPS).optional(),
  error: z.string().optional().describe('Code of the error that calls ended with.'),
  bucket: z.enum(['1m', '1h', '1d', 'none']).default('none'),
});
export type UsageQuery = z.output<typeof UsageQuery>;

const series = z.array(z.number());
const shares = z.array(z.number().nullable());
const quantiles = z.strictObject({ p50: shares, p95: shares, p99: shares });

export const Usage = z.strictObject({
  buckets: z.array(z.string()).describe('The beginning of each.'),
  groups: z.array(
    z.strictObject({
      key: z.record(z.string(), z.string().nullable()),
      runs: series.optional(),
      failed: series.optional(),
      cost_nano_usd: series.optional(),
      unpriced: series.optional().describe('Calls without a price; they are not in the cost.'),
      tokens_in: series.optional(),
      tokens_out: series.optional(),
      cache_read: series.optional(),
      thinking: series.optional(),
      first_byte_ms: quantiles.optional(),
      total_ms: quantiles.optional(),
    }),
  ),
  names: z.record(z.string(), z.string()).optional().describe('With group_by=key: the names of the keys by their ids.'),
  from_rollup_until: z
    .string()
    .nullable()
    .describe('Until here the figures come from sums that the keeper has made; null: all of them are counted from receipts.'),
});
export type Usage = z.infer<typeof Usage>;

const MOST_SWITCHES = 6;

export const ForecastQuery = z.strictObject({
  ...runFilters,
  to: z
    .string()
    .max(2000)
    .transform((text) => text.split(','))
    .pipe(
      z
        .array(z.string().regex(/^[^/]+\/.+$/, 'must be an engine and a model, such as gemini/gemini-2.5-pro'))
        .min(1)
        .max(MOST_SWITCHES),
    )
    .describe('Engine and model to switch to; several are parted by commas.'),
});
export type ForecastQuery = z.output<typeof ForecastQuery>;

const Switch = z.strictObject({
  engine: z.string(),
  model: z.string(),
  cost_nano_usd: z
    .number()
    .nullable()
    .describe('What the same tokens would have cost at list price, with as much read from the cache; null: no price is known.'),
  uncached_nano_usd: z.number().nullable().describe('The same if nothing were read from the cache.'),
  refused: count.describe('Recorded requests that would have been refused.'),
  mapped: count.describe('Recorded requests that would have been mapped.'),
  losses: z
    .array(
      z.strictObject({
        path: z.string(),
        fate: Fate,
        note: z.string().optional(),
        calls: count.describe('In how many of the recorded requests.'),
      }),
    )
    .describe('Fields that would not have arrived as they are, those of most requests first.'),
});

export const Forecast = z.strictObject({
  calls: count,
  tokens_in: count,
  tokens_out: count,
  cache_read: count,
  cost_nano_usd: z.number().describe('What they came to.'),
  unpriced: count.describe('Calls without a price; they are not in the cost.'),
  tried: count
    .nullable()
    .describe('Recorded requests that were tried on each, nobody being called; null: the caller may not have them read.'),
  items: z.array(Switch).describe('In the order of the question.'),
});
export type Forecast = z.infer<typeof Forecast>;
