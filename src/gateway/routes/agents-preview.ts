import { AbpError } from '../../contract/errors.ts';
import type { Route } from '../../mapping/route.ts';
import type { Agent } from '../../platform/agents/agent.ts';
import { agentModel, negotiateAgent } from '../../platform/agents/agent-model.ts';
import type { AgentPlane } from '../../platform/agents/agent-plane.ts';
import { type Caller, compositionOf, hostFor } from '../../platform/agents/agents.ts';
import { type ComposedAgent, type Composition, inspectAgent, refusedConflict } from '../../platform/agents/compose.ts';
import type { AgentPreview, DraftPreview } from '../api/agents.ts';
import { toolView } from './capabilities-view.ts';

/** The request that a turn would send, or why there would be none. A refusal is the answer here, not an error of the call. */
export async function previewOf(plane: AgentPlane, caller: Caller, agent: Agent): Promise<AgentPreview> {
  const owner = { keyId: agent.keyId, hostAllowed: caller.hostAllowed };
  return { agent_id: agent.id, ...(await draftPreview(plane, owner, agent.model, await compositionOf(plane, agent))) };
}

/** The same of an agent that is not stored. */
export async function draftPreview(
  plane: AgentPlane,
  owner: Caller,
  modelName: string | null,
  composition: Composition,
): Promise<DraftPreview> {
  const model = attempt(() => agentModel(modelName, plane.routes));
  const composed = await settled(inspectAgent(hostFor(plane, owner), composition));
  return {
    model: model instanceof AbpError ? null : { engine: model.engine.id, model: model.model },
    ...(composed instanceof AbpError ? EMPTY : composedView(composed)),
    negotiation: model instanceof AbpError || composed instanceof AbpError ? null : negotiationView(model, composed),
    error: errorView([composed instanceof AbpError ? composed : refusedConflict(composed), model]),
  };
}

const EMPTY = { system_prompt: '', prompt_parts: [], tools: [], capabilities: [], conflicts: [], warnings: [] };

function composedView(composed: ComposedAgent): Omit<DraftPreview, 'model' | 'negotiation' | 'error'> {
  return {
    system_prompt: composed.systemPrompt,
    prompt_parts: composed.promptParts.map((part) => ({ ...part })),
    tools: composed.tools.map(({ source, ...tool }) => ({
      ...toolView(tool),
      source: { capability_id: source.capabilityId, version: source.version, name: source.name },
    })),
    capabilities: composed.capabilities.map(({ capability, config, position, requestedBy }) => ({
      capability_id: capability.id,
      version: capability.version,
      position,
      requested_by: [...requestedBy],
      config: { ...config },
    })),
    conflicts: composed.conflicts.map(({ name, capabilities, outcome, winner }) => ({
      name,
      capabilities: [...capabilities],
      outcome,
      ...(winner === undefined ? {} : { winner }),
    })),
    warnings: [...composed.warnings],
  };
}

function negotiationView(model: Route, { requirements }: ComposedAgent): AgentPreview['negotiation'] {
  const required = requirements.required.map(({ capability }) => ({ capability, min_support: 'emulated' as const }));
  return { ...negotiateAgent(model, requirements), requirements: { required } };
}

function errorView(candidates: readonly unknown[]): AgentPreview['error'] {
  const error = candidates.find((candidate) => AbpError.is(candidate));
  return AbpError.is(error) ? { code: error.code, message: error.message, details: { ...error.details } } : null;
}

function attempt<T>(work: () => T): T | AbpError {
  try {
    return work();
  } catch (error) {
    if (AbpError.is(error)) return error;
    throw error;
  }
}

async function settled<T>(work: Promise<T>): Promise<T | AbpError> {
  try {
    return await work;
  } catch (error) {
    if (AbpError.is(error)) return error;
    throw error;
  }
}
