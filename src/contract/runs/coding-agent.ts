/** The coding agents that come with the product. */
export const BUILT_IN_AGENTS = ['claude', 'codex', 'gemini', 'copilot', 'cursor', 'opencode', 'pi', 'omp', 'openclaw', 'hermes'] as const;
export type BuiltInAgentName = (typeof BUILT_IN_AGENTS)[number];

/** A coding agent; adapters of others may add names. */
export type AgentName = BuiltInAgentName | (string & {});

/** The backend that executes a run of this agent: a coding agent is behind its adapter, others have a name of two parts. */
export function backendOf(agent: AgentName): string {
  return agent.includes(':') ? agent : `adapter:${agent}`;
}

export const THINKING_EFFORT_LEVELS = ['low', 'medium', 'high', 'max'] as const;
export type ThinkingEffortLevel = (typeof THINKING_EFFORT_LEVELS)[number];

export const APPROVAL_MODES = ['yolo', 'prompt', 'deny'] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

export type Platform = 'darwin' | 'linux' | 'win32';

/** How a coding agent proves who it is. */
export type AuthMethod = 'api-key' | 'oauth' | 'github-token';

/** The structural kinds of plugins an agent can load. */
export type PluginFormat = 'npm-package' | 'skill-file' | 'skill-directory' | 'extension-ts' | 'channel-plugin' | 'mcp-server';

/** Where plugins of an agent come from. */
export interface PluginRegistry {
  readonly name: string;
  readonly url: string;
  readonly searchable: boolean;
}

/** One way to install an agent on a platform. */
export interface InstallMethod {
  readonly platform: Platform | 'all';
  readonly type: 'npm' | 'brew' | 'gh-extension' | 'curl' | 'winget' | 'scoop' | 'manual' | 'pip' | 'nix';
  readonly command: string;
  readonly notes?: string;
  readonly prerequisiteCheck?: string;
}

/** The abilities of a coding agent: the structured manifest that options are checked against before anything is spawned. */
export interface AgentCapabilities {
  readonly agent: AgentName;

  readonly canResume: boolean;
  readonly canFork: boolean;
  readonly supportsMultiTurn: boolean;
  readonly sessionPersistence: 'none' | 'file' | 'sqlite' | 'in-memory';

  readonly supportsTextStreaming: boolean;
  readonly supportsToolCallStreaming: boolean;
  readonly supportsThinkingStreaming: boolean;

  readonly supportsNativeTools: boolean;
  readonly supportsMCP: boolean;
  readonly supportsParallelToolCalls: boolean;
  readonly requiresToolApproval: boolean;
  readonly approvalModes: readonly ApprovalMode[];

  readonly supportsThinking: boolean;
  readonly thinkingEffortLevels: readonly ThinkingEffortLevel[];
  readonly supportsThinkingBudgetTokens: boolean;

  readonly supportsJsonMode: boolean;
  readonly supportsStructuredOutput: boolean;

  readonly supportsSkills: boolean;
  readonly supportsAgentsMd: boolean;
  readonly skillsFormat: 'file' | 'directory' | 'npm-package' | null;

  readonly supportsSubagentDispatch: boolean;
  readonly supportsParallelExecution: boolean;
  readonly maxParallelTasks?: number;

  readonly supportsInteractiveMode: boolean;
  readonly supportsStdinInjection: boolean;

  readonly supportsImageInput: boolean;
  readonly supportsImageOutput: boolean;
  readonly supportsFileAttachments: boolean;

  readonly supportsPlugins: boolean;
  readonly pluginFormats: readonly PluginFormat[];
  readonly pluginInstallCmd?: string;
  readonly pluginListCmd?: string;
  readonly pluginUninstallCmd?: string;
  readonly pluginMarketplaceUrl?: string;
  readonly pluginSearchCmd?: string;
  readonly pluginRegistries: readonly PluginRegistry[];

  readonly supportedPlatforms: readonly Platform[];
  readonly requiresGitRepo: boolean;
  readonly requiresPty: boolean;

  readonly authMethods: readonly AuthMethod[];
  /** Relative to the home folder of the user. */
  readonly authFiles: readonly string[];

  readonly installMethods: readonly InstallMethod[];
}

/** Prices that hold for a whole request once its input is longer than a limit. */
export interface ModelPriceTier {
  readonly inputTokensAbove: number;
  readonly inputPricePerMillion: number;
  readonly outputPricePerMillion: number;
  readonly cachedInputPricePerMillion?: number;
  readonly cacheWritePricePerMillion?: number;
}

/** The abilities of one model under one agent; they outrank those of the agent. */
export interface ModelCapabilities {
  readonly agent: AgentName;
  readonly modelId: string;
  readonly modelAlias?: string;
  readonly displayName: string;
  readonly deprecated: boolean;
  /** ISO 8601 date. */
  readonly deprecatedSince?: string;
  readonly successorModelId?: string;
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly maxThinkingTokens?: number;
  readonly inputPricePerMillion?: number;
  readonly outputPricePerMillion?: number;
  readonly thinkingPricePerMillion?: number;
  readonly cachedInputPricePerMillion?: number;
  readonly cacheWritePricePerMillion?: number;
  readonly priceTiers?: readonly ModelPriceTier[];
  readonly supportsThinking: boolean;
  readonly thinkingEffortLevels?: readonly ThinkingEffortLevel[];
  readonly thinkingBudgetRange?: readonly [number, number];
  readonly supportsToolCalling: boolean;
  readonly supportsParallelToolCalls: boolean;
  readonly supportsToolCallStreaming: boolean;
  readonly supportsJsonMode: boolean;
  readonly supportsStructuredOutput: boolean;
  readonly supportsTextStreaming: boolean;
  readonly supportsThinkingStreaming: boolean;
  readonly supportsImageInput: boolean;
  readonly supportsImageOutput: boolean;
  readonly supportsFileInput: boolean;
  readonly provider?: string;
  readonly providerModelId?: string;
  readonly protocol?: 'chat' | 'responses' | 'messages' | 'custom';
  readonly deployment?: 'hosted' | 'local' | 'gateway' | 'hybrid';
  readonly supportsLocalModels?: boolean;
  readonly cliArgKey: string;
  readonly cliArgValue: string;
  /** ISO 8601 time. */
  readonly lastUpdated: string;
  readonly source: 'bundled' | 'remote';
}

/** Whether a model name can be used, and what to use instead. */
export interface ModelValidationResult {
  readonly valid: boolean;
  readonly model?: ModelCapabilities;
  readonly status: 'ok' | 'deprecated' | 'alias' | 'unknown' | 'ambiguous';
  readonly message: string;
  readonly suggestions?: readonly string[];
  readonly resolvedModelId?: string;
  readonly successorModelId?: string;
}
