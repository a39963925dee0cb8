import { z } from 'zod';
import type { JsonObject } from '../../base/json.ts';
import { JsonRecord } from '../../contract/json-value.ts';
import type { AgentStatus, StoredAgent } from '../../store/agent-plane/agents.ts';
import { damaged } from '../../store/text.ts';

/** The way out when two capabilities bring a tool of one name: refuse, rename both, or keep one (the first, or that of the named capability). */
export const ConflictPolicy = z.union([z.enum(['error', 'prefix', 'prefer']), z.templateLiteral(['prefer:', z.string().min(1).max(50)])]);
export type ConflictPolicy = z.infer<typeof ConflictPolicy>;

/** An agent's choice of one of its capabilities. */
const CapabilitySettings = z.strictObject({
  /** As the caller gave it; defaults of the capability's schema are added when it is used. */
  config: JsonRecord.optional(),
  /** A range of versions, such as `^1.0.0`. */
  version: z.string().optional(),
});
export type CapabilitySettings = z.infer<typeof CapabilitySettings>;

const AgentDocument = z.strictObject({
  description: z.string().nullable(),
  systemPrompt: z.string(),
  model: z.string().nullable(),
  maxIterations: z.int().nullable(),
  maxCostNanoUsd: z.int().nullable(),
  conflicts: ConflictPolicy,
  settings: z.record(z.string(), CapabilitySettings),
});
/** The substance of an agent, beside its name and tags. */
export type AgentDocument = z.infer<typeof AgentDocument>;

/** A configured agent. Its capabilities are in a table of their own. */
export interface Agent extends Readonly<AgentDocument> {
  readonly id: string;
  /** The key that made it; null for callers without one. */
  readonly keyId: string | null;
  readonly name: string;
  readonly tags: readonly string[];
  readonly status: AgentStatus;
  readonly revision: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function agentOf(stored: StoredAgent): Agent {
  const { document, ...row } = stored;
  const parsed = AgentDocument.safeParse(document);
  if (!parsed.success) throw damaged(`agent ${stored.id}`, parsed.error.issues[0]?.message ?? 'unknown');
  return { ...row, ...parsed.data };
}

/** The part of an agent that is kept as one document. */
export function documentOf(agent: AgentDocument): JsonObject {
  const { description, systemPrompt, model, maxIterations, maxCostNanoUsd, conflicts, settings } = agent;
  // Every value is JSON: the settings come from a JSON body.
  return { description, systemPrompt, model, maxIterations, maxCostNanoUsd, conflicts, settings: settings as JsonObject };
}
