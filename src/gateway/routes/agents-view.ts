import { isoTime } from '../../base/clock.ts';
import { nanoUsd, usd } from '../../platform/agents/agent-limits.ts';
import type { AgentChanges, AgentInput, AgentWithCapabilities } from '../../platform/agents/agents.ts';
import type { Selection } from '../../platform/agents/resolve.ts';
import type { AgentPatch, AgentView, CapabilityChoice, CapabilityItem, NewAgent } from '../api/agents.ts';

/** The agent as the API shows it. */
export function agentView(shown: AgentWithCapabilities): AgentView {
  const { agent, warnings } = shown;
  return {
    id: agent.id,
    name: agent.name,
    description: agent.description,
    system_prompt: agent.systemPrompt,
    model: agent.model,
    tags: [...agent.tags],
    max_iterations: agent.maxIterations,
    max_cost_usd: agent.maxCostNanoUsd === null ? null : usd(agent.maxCostNanoUsd),
    conflicts: agent.conflicts,
    status: agent.status,
    capabilities: capabilityItems(shown),
    created_at: isoTime(agent.createdAt),
    updated_at: isoTime(agent.updatedAt),
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  };
}

/** The capabilities of an agent as their own list. */
export function itemsOf(shown: AgentWithCapabilities): object {
  const items = capabilityItems(shown);
  return { items, total: items.length, ...(shown.warnings.length === 0 ? {} : { warnings: [...shown.warnings] }) };
}

function capabilityItems({ agent, capabilities }: AgentWithCapabilities): CapabilityItem[] {
  return capabilities.map(({ capabilityId, position }) => {
    const { config, version } = agent.settings[capabilityId] ?? {};
    return {
      capability_id: capabilityId,
      position,
      ...(config === undefined ? {} : { config }),
      ...(version === undefined ? {} : { version }),
    };
  });
}

export function inputOf(body: NewAgent): AgentInput {
  return {
    name: body.name,
    description: body.description,
    systemPrompt: body.system_prompt,
    model: body.model,
    tags: body.tags,
    maxIterations: body.max_iterations,
    maxCostNanoUsd: body.max_cost_usd === null ? null : nanoUsd(body.max_cost_usd),
    conflicts: body.conflicts,
    capabilities: selectionsOf(body.capabilities),
  };
}

export function changesOf(body: AgentPatch): AgentChanges {
  const { name, description, model, tags, conflicts, status } = body;
  const changes = {
    name,
    description,
    model,
    tags,
    conflicts,
    status,
    systemPrompt: body.system_prompt,
    maxIterations: body.max_iterations,
    maxCostNanoUsd: typeof body.max_cost_usd === 'number' ? nanoUsd(body.max_cost_usd) : body.max_cost_usd,
  };
  // Only members with a value are left, so that none overwrites the agent's with undefined.
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as AgentChanges;
}

export function selectionsOf(choices: readonly CapabilityChoice[]): Selection[] {
  return choices.map((choice) =>
    typeof choice === 'string' ? { id: choice } : { id: choice.capability_id, config: choice.config, version: choice.version },
  );
}
