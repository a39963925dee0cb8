import { AbpError } from '../../contract/errors.ts';
import type { AgentPlane } from '../../platform/agents/agent-plane.ts';
import type { AgentCapability } from '../../platform/agents/capability.ts';
import { completeConfig } from '../../platform/agents/config.ts';
import type { Tool } from '../../platform/tools/tool.ts';
import type { CapabilityDetail, CapabilityView, ToolView } from '../api/agent-capabilities.ts';

/** The public fields of a capability, and no more. */
export function capabilityView({ id, name, description, status, icon, category }: AgentCapability): CapabilityView {
  return { id, name, description, status, icon: icon ?? null, category: category ?? null };
}

export function toolView({ name, description, parameters, policy, effect }: Tool): ToolView {
  return { name, description, parameters: { ...parameters }, policy, effect };
}

export interface DetailOptions {
  /** Newest first; the first is the newest there is. */
  readonly versions: readonly AgentCapability[];
  readonly shown: AgentCapability;
  /** Whether the caller may start what lists its tools. */
  readonly hostAllowed: boolean;
}

export async function capabilityDetail(plane: AgentPlane, { versions, shown, hostAllowed }: DetailOptions): Promise<CapabilityDetail> {
  const host = shown.host === true;
  const listed = host && !hostAllowed ? 'Listing its tools needs the token of the home or an admin key.' : await toolsOf(plane, shown);
  return {
    ...capabilityView(shown),
    version: shown.version,
    versions: versions.map(({ version }) => version),
    custom: !plane.registry.isBuiltIn(shown.id),
    host,
    system_prompt: shown.systemPrompt ?? null,
    config_schema: shown.configSchema === undefined ? null : { ...shown.configSchema },
    dependencies: (shown.dependencies ?? []).map((dependency) => ({ ...dependency })),
    ...(typeof listed === 'string' ? { tools: [], tools_error: listed } : { tools: listed.map(toolView) }),
  };
}

/** Its tools under default settings, or the sentence why they cannot be listed. */
async function toolsOf(plane: AgentPlane, capability: AgentCapability): Promise<readonly Tool[] | string> {
  try {
    return await capability.tools(await completeConfig(capability, undefined), plane.surroundings);
  } catch (error) {
    if (AbpError.is(error)) return error.message;
    throw error;
  }
}
