import { z } from 'zod';
import { JsonValue } from '../../contract/json-value.ts';

export const SettingsView = z.strictObject({
  values: z.array(
    z.strictObject({
      path: z.string().describe('As in abp.toml.'),
      value: JsonValue.describe('Secrets are told as set or not set.'),
      source: z.enum(['default', 'file', 'env', 'database']),
      where: z.string().optional().describe('The variable it comes from.'),
    }),
  ),
});
export type SettingsView = z.infer<typeof SettingsView>;

export const RouteTable = z.strictObject({
  items: z.array(
    z.strictObject({
      match: z.string(),
      to: z.string(),
      fallback: z.array(z.string()),
      attempts: z.int(),
      emulate: z.array(z.string()),
      recording: z.string().nullable(),
      source: z.enum(['file', 'database']),
    }),
  ),
  total: z.int(),
});
