import type { Capability } from '../contract/capability.ts';
import type { AgentCapabilities } from '../contract/runs/coding-agent.ts';
import type { CapabilityManifest } from '../contract/support.ts';

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
export function adapterManifest(profile: AgentCapabilities): CapabilityManifest {
  const held = VOUCHED.flatMap(([vouches, capabilities]) => (vouches(profile) ? capabilities : []));
  return Object.fromEntries(held.map((capability) => [capability, 'native']));
}
