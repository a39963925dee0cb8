import { z } from 'zod';
import { JsonRecord } from '../../contract/json-value.ts';
import { CapabilityDefinition } from '../../platform/custom/definition.ts';

/** The six fields of a capability in a list. */
export const CapabilityView = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  status: z.enum(['available', 'coming_soon', 'deprecated']),
  icon: z.string().nullable(),
  category: z.string().nullable(),
});
export type CapabilityView = z.infer<typeof CapabilityView>;

export const CapabilityList = z.strictObject({ items: z.array(CapabilityView), total: z.int() });

export const ToolView = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: JsonRecord,
  policy: z.enum(['auto', 'requires_approval']),
  effect: z.enum(['idempotent', 'at_most_once']),
});
export type ToolView = z.infer<typeof ToolView>;

export const CapabilityDetail = CapabilityView.extend({
  version: z.string(),
  versions: z.array(z.string()).describe('Newest first.'),
  custom: z.boolean(),
  host: z.boolean().describe('Its tools act on this machine outside a sandbox; the token is needed.'),
  system_prompt: z.string().nullable(),
  config_schema: JsonRecord.nullable(),
  dependencies: z.array(z.strictObject({ id: z.string(), range: z.string() })),
  tools: z.array(ToolView),
  tools_error: z.string().optional().describe('Why its tools cannot be listed now.'),
  definition: CapabilityDefinition.optional().describe('How it was defined; for its owner.'),
});
export type CapabilityDetail = z.infer<typeof CapabilityDetail>;

export const CapabilityParams = z.strictObject({ capability_id: z.string() });
const owner = z
  .string()
  .max(100)
  .optional()
  .describe('The key that made it, where several have one of this id; empty: made without a key.');

export const OwnerQuery = z.strictObject({ owner });

export const CapabilityQuery = z.strictObject({
  owner,
  version: z.string().max(100).optional().describe('A range; the newest that fits is shown.'),
});
