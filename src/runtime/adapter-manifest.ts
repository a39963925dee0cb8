import type { Adapter, WaitsFor } from '../adapters/adapter.ts';
import type { Capability } from '../contract/capability.ts';
import type { AgentCapabilities } from '../contract/runs/coding-agent.ts';
import type { CapabilityManifest, SupportLevel } from '../contract/support.ts';

/** Which word of a profile vouches for which capabilities of the contract. Of the rest a profile says nothing, so they have no key. */
const VOUCHED: readonly (readonly [(profile: AgentCapabilities) => boolean, readonly Capability[]])[] = [
  [({ supportsTextStreaming }) => supportsTextStreaming, ['streaming']],
  [({ supportsNativeTools }) => supportsNativeTools, ['tool_read', 'tool_write', 'tool_edit', 'tool_bash']],
  [({ canResume }) => canResume, ['session_resume']],
  [({ canFork }) => canFork, ['session_fork']],
  [({ supportsStructuredOutput }) => supportsStructuredOutput, ['structured_output_json_schema']],
  [({ supportsJsonMode }) => supportsJsonMode, ['json_mode']],
  [({ supportsMCP }) => supportsMCP, ['mcp_client']],
  [({ supportsThinking }) => supportsThinking, ['extended_thinking']],
  [({ supportsImageInput }) => supportsImageInput, ['image_input']],
  [({ supportsImageOutput }) => supportsImageOutput, ['image_generation']],
];

/** A coding agent's profile in the words that negotiation knows. */
export function adapterManifest(profile: Pick<Adapter, 'capabilities' | 'waits' | 'untold'>): CapabilityManifest {
  const held = VOUCHED.flatMap(([vouches, capabilities]) => (vouches(profile.capabilities) ? capabilities : []));
  return { ...Object.fromEntries(held.map((capability) => [capability, 'native'])), ...hooksOf(profile) };
}

/** The level of a hook before tools, by what the agent waits for. */
const BEFORE: Readonly<Record<WaitsFor, SupportLevel>> = {
  'every-tool': 'native',
  'what-it-asks': { restricted: { reason: 'it decides about the tools that the agent asks about, and is told of the others' } },
  nothing: { restricted: { reason: 'it is told of tools, and decides about none' } },
};

/** Hooks after tools are ours, called for what the agent tells of its tools. */
function hooksOf({ waits, untold = [] }: Pick<Adapter, 'waits' | 'untold'>): CapabilityManifest {
  if (waits === undefined) return {};
  return {
    hooks_pre_tool_use: untold.includes('preToolUse') ? 'unsupported' : BEFORE[waits],
    hooks_post_tool_use: untold.includes('postToolUse') ? 'unsupported' : 'emulated',
  };
}
