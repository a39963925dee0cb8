import type { AgentCapabilities } from '../../contract/runs/coding-agent.ts';
import type { CapabilityManifest, SupportLevel } from '../../contract/support.ts';

/** A profile for a sidecar, so that the gates can judge run options. The sidecar's own hello has the last word on everything else. */
export function sidecarProfile(agent: string, manifest: CapabilityManifest): AgentCapabilities {
  const has = (level: SupportLevel | undefined): boolean => level !== undefined && level !== 'unsupported';
  return {
    agent,
    canResume: has(manifest.session_resume),
    canFork: has(manifest.session_fork),
    supportsMultiTurn: false,
    sessionPersistence: 'none',
    supportsTextStreaming: has(manifest.streaming),
    supportsToolCallStreaming: false,
    supportsThinkingStreaming: has(manifest.extended_thinking),
    supportsNativeTools: has(manifest.tool_read) || has(manifest.tool_bash),
    supportsMCP: has(manifest.mcp_client),
    supportsParallelToolCalls: false,
    requiresToolApproval: false,
    approvalModes: ['yolo'],
    supportsThinking: has(manifest.extended_thinking),
    thinkingEffortLevels: [],
    supportsThinkingBudgetTokens: false,
    supportsJsonMode: has(manifest.json_mode),
    supportsStructuredOutput: has(manifest.structured_output_json_schema),
    supportsSkills: false,
    supportsAgentsMd: false,
    skillsFormat: null,
    supportsSubagentDispatch: false,
    supportsParallelExecution: false,
    supportsInteractiveMode: false,
    supportsStdinInjection: false,
    supportsImageInput: has(manifest.image_input),
    supportsImageOutput: has(manifest.image_generation),
    supportsFileAttachments: false,
    supportsPlugins: false,
    pluginFormats: [],
    pluginRegistries: [],
    supportedPlatforms: ['darwin', 'linux', 'win32'],
    requiresGitRepo: false,
    requiresPty: false,
    authMethods: [],
    authFiles: [],
    installMethods: [],
  };
}
