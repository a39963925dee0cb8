import { z } from 'zod';
import { CacheTerms } from '../../contract/cache-terms.ts';
import { Capability } from '../../contract/capability.ts';
import { JsonValue } from '../../contract/json-value.ts';
import { Recording } from '../../contract/receipts/parts.ts';
import { RouteConfig } from '../config.ts';

export const SettingsView = z.strictObject({
  values: z.array(
    z.strictObject({
      path: z.string().describe('As in abp.toml.'),
      value: JsonValue.describe('Secrets are told as set or not set.'),
      source: z.enum(['default', 'file', 'env', 'database']),
      where: z.string().optional().describe('The variable it comes from, or the file and its line, such as abp.toml:12.'),
    }),
  ),
});
export type SettingsView = z.infer<typeof SettingsView>;

const RouteSource = z.enum(['file', 'database']).describe('database: kept here and changed here; file: of the configuration.');

const RouteView = z.strictObject({
  match: z.string(),
  to: z.string(),
  fallback: z.array(z.string()),
  attempts: z.int(),
  emulate: z.array(Capability),
  recording: Recording.nullable(),
  cache: CacheTerms.nullable(),
  source: RouteSource,
});
export type RouteView = z.infer<typeof RouteView>;

export const RouteTable = z.strictObject({
  items: z.array(RouteView).describe('In the order in which they are asked: those of the database, then those of the configuration.'),
  total: z.int(),
});

const MOST_ROUTES = 500;

/** The table as a caller wants it; what GET answered can be sent back with changes. */
export const RouteChange = z.strictObject({
  items: z
    .array(RouteConfig.extend({ recording: Recording.nullish(), cache: CacheTerms.nullish(), source: RouteSource.default('database') }))
    .max(MOST_ROUTES)
    .describe('Instead of the rows of the database. Rows of the configuration may stand here too, as they are.'),
});
export type RouteChange = z.output<typeof RouteChange>;

const change = {
  path: z.string(),
  running: JsonValue.describe('The value in effect; null where there is none. Secrets are masked.'),
  file: JsonValue.describe('The value of the file; null where there is none. Secrets are masked.'),
};

export const ConfigReload = z.strictObject({
  source: z.string().nullable().describe('The file; null where there is none.'),
  changed: z.array(z.strictObject(change)).describe('Values that a reload makes hold.'),
  restart: z.array(z.strictObject({ ...change, reason: z.string().optional() })).describe('Values that need a restart.'),
});
