import { z } from 'zod';
import { JsonRecord } from '../../contract/json-value.ts';
import { plainName } from '../../contract/plain-name.ts';
import { ReceiptNegotiation } from '../../contract/receipts/parts.ts';
import { CapabilityRequirements } from '../../contract/support.ts';
import { ConflictPolicy } from '../../platform/agents/agent.ts';
import { AGENT_LIMITS } from '../../platform/agents/agent-limits.ts';
import { ToolView } from './agent-capabilities.ts';

/** A capability by its id, or with settings and a range of versions. */
const CapabilityChoice = z.union([
  z.string(),
  z.strictObject({
    capability_id: z.string(),
    config: JsonRecord.optional().describe('Settings, by the capability’s config_schema.'),
    version: z.string().max(100).optional().describe('A range of versions, such as ^1.0.0.'),
  }),
]);
export type CapabilityChoice = z.infer<typeof CapabilityChoice>;

const fields = {
  name: plainName(AGENT_LIMITS.name).min(1),
  description: z.string().max(AGENT_LIMITS.description).nullable(),
  system_prompt: z.string().max(AGENT_LIMITS.systemPrompt).describe('The prompt; additions of capabilities go before it.'),
  model: z.string().min(1).max(AGENT_LIMITS.model).nullable().describe('engine/model, or a name of the route table. null: sim/sim-1.'),
  tags: z.array(plainName(AGENT_LIMITS.tag).min(1)).max(AGENT_LIMITS.tags),
  max_iterations: z.int().min(1).max(AGENT_LIMITS.iterations).nullable().describe('Model calls of one turn.'),
  max_cost_usd: z.number().min(AGENT_LIMITS.leastCostUsd).max(AGENT_LIMITS.costUsd).nullable().describe('Dollars of one turn.'),
  conflicts: ConflictPolicy.describe('Tools of one name: error, prefix, prefer (the first) or prefer:<capability>.'),
};
const capabilities = z.array(CapabilityChoice).max(AGENT_LIMITS.capabilities);

export const NewAgent = z.strictObject({
  name: fields.name,
  description: fields.description.default(null),
  system_prompt: fields.system_prompt.default(''),
  model: fields.model.default(null),
  tags: fields.tags.default([]),
  max_iterations: fields.max_iterations.default(null),
  max_cost_usd: fields.max_cost_usd.default(null),
  conflicts: fields.conflicts.default('error'),
  capabilities: capabilities.default([]),
});
export type NewAgent = z.output<typeof NewAgent>;

const AgentState = z.enum(['active', 'archived']);

export const AgentPatch = z.strictObject({ ...fields, status: AgentState }).partial();
export type AgentPatch = z.output<typeof AgentPatch>;

export const CapabilityItem = z.strictObject({
  capability_id: z.string(),
  position: z.int(),
  config: JsonRecord.optional(),
  version: z.string().optional(),
});
export type CapabilityItem = z.infer<typeof CapabilityItem>;

export const CapabilityAssignment = z.strictObject({ capabilities, conflicts: ConflictPolicy.optional() });

export const CapabilityItems = z.strictObject({
  items: z.array(CapabilityItem),
  total: z.int(),
  warnings: z.array(z.string()).optional().describe('Remarks for the caller who set them; absent when there are none.'),
});

export const AgentView = z.strictObject({
  id: z.string(),
  ...fields,
  status: AgentState,
  capabilities: z.array(CapabilityItem),
  created_at: z.string(),
  updated_at: z.string(),
  warnings: z.array(z.string()).optional(),
});
export type AgentView = z.infer<typeof AgentView>;

export const AgentParams = z.strictObject({ agent_id: z.string() });

export const AgentListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  cursor: z.string().optional(),
  status: AgentState.optional(),
  tag: z.string().optional(),
});

export const AgentList = z.strictObject({ items: z.array(AgentView), next_cursor: z.string().optional() });

/** An agent that is being put together; nothing of it is stored. */
export const AgentDraft = NewAgent.pick({ system_prompt: true, model: true, conflicts: true, capabilities: true });
export type AgentDraft = z.output<typeof AgentDraft>;

export const AgentImport = z.strictObject({ markdown: z.string().min(1).describe('Front matter in YAML, then the prompt.') });

export const AgentPreview = z.strictObject({
  agent_id: z.string(),
  model: z.strictObject({ engine: z.string(), model: z.string() }).nullable(),
  system_prompt: z.string().describe('The prompt as a turn sends it.'),
  prompt_parts: z.array(z.strictObject({ source: z.string().describe('A capability, or agent.'), text: z.string() })),
  tools: z.array(ToolView.extend({ source: z.strictObject({ capability_id: z.string(), version: z.string(), name: z.string() }) })),
  capabilities: z.array(
    z.strictObject({
      capability_id: z.string(),
      version: z.string(),
      position: z.int().nullable().describe('null: only others depend on it.'),
      requested_by: z.array(z.string()),
      config: JsonRecord.describe('With defaults.'),
    }),
  ),
  conflicts: z.array(
    z.strictObject({
      name: z.string(),
      capabilities: z.array(z.string()),
      outcome: z.enum(['refused', 'prefixed', 'preferred']),
      winner: z.string().optional(),
    }),
  ),
  negotiation: ReceiptNegotiation.extend({ backend: z.string(), requirements: CapabilityRequirements }).nullable(),
  warnings: z.array(z.string()),
  error: z.strictObject({ code: z.string(), message: z.string(), details: JsonRecord }).nullable().describe('Why a turn would be refused.'),
});
export type AgentPreview = z.infer<typeof AgentPreview>;

export const DraftPreview = AgentPreview.omit({ agent_id: true });
export type DraftPreview = z.infer<typeof DraftPreview>;
