import type { SessionSummary } from '../adapters/adapter.ts';
import type { AgentName } from '../contract/runs/coding-agent.ts';
import { loadConfig } from '../gateway/config.ts';
import { configuredAccess } from '../gateway/run-plane/engine-access.ts';
import { homePath as homeOf } from '../home/home.ts';
import type { ModelRegistry } from '../models/registry.ts';
import { type AdapterRegistry, createCodingAgents } from '../runtime/coding-agents/coding-agents.ts';
import type { PluginManager } from '../runtime/coding-agents/plugins.ts';
import { createProfiles, type RunProfiles } from '../runtime/profiles.ts';
import type { LocalRunOptions, RunHandle } from '../runtime/runs/handle.ts';
import { createSessions, type Session, type SessionFilter } from '../runtime/sessions.ts';
import { createLocalRuns } from './run.ts';

export type {
  Adapter,
  Adapter as AgentAdapter,
  Command,
  DetectRule,
  Dialogue,
  EventDraft,
  GatewayRoute,
  Heard,
  Outcome,
  ProcessExit,
  SessionRule,
  SessionSummary,
  SpawnPlan,
  SpawnSpec,
  ThinkingDelivery,
  ThinkingRule,
  Traffic,
} from '../adapters/adapter.ts';
export type * from '../contract/runs/coding-agent.ts';
export type { AgentEvent, BaseEvent, EventName, EventOf } from '../contract/runs/event.ts';
export type { CostRecord } from '../contract/runs/event-table.ts';
export {
  AgentMuxError,
  AuthError,
  type AuthStatus,
  CapabilityError,
  type FieldFault,
  type GatedCapability,
  ValidationError,
} from '../contract/runs/run-error.ts';
export type { RunErrorCode as ErrorCode } from '../contract/runs/run-error-table.ts';
export type { HookAnswer, HookCall, HookData, HookType, RunHooks } from '../contract/runs/run-hooks.ts';
export type { Attachment, McpServerConfig, RetryPolicy, RunOptions, RunProfile } from '../contract/runs/run-options.ts';
export type { ExitReason, PendingInteraction, RunResult, RunState, RunTokenUsage } from '../contract/runs/run-result.ts';
export type { ModelRegistry } from '../models/registry.ts';
export type { ModelUsage } from '../models/usage-cost.ts';
export type { AuthState } from '../runtime/coding-agents/auth.ts';
export type { AdapterRegistry, Installed } from '../runtime/coding-agents/coding-agents.ts';
export type { Detection } from '../runtime/coding-agents/detection.ts';
export type { InstallInstruction } from '../runtime/coding-agents/install.ts';
export type { PluginAnswer, PluginManager } from '../runtime/coding-agents/plugins.ts';
export type { RunProfiles } from '../runtime/profiles.ts';
export type { InteractionAnswer, Interactions, LocalRunOptions, QueueTime, RunCallbacks, RunHandle } from '../runtime/runs/handle.ts';
export type { Session, SessionFilter } from '../runtime/sessions.ts';

export interface ClientOptions {
  /** Variables that agents and engines are found by. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The configuration file; default `ABP_CONFIG`, else `abp.toml` here. */
  readonly configPath?: string;
  /** Where state is kept; default `ABP_HOME`, else `~/.abp`. */
  readonly homePath?: string;
}

/** Sessions in the stores of the agents themselves; read, never written. */
export interface AgentSessions {
  /** Newest first. */
  list(agent: AgentName, filter?: SessionFilter): Promise<readonly SessionSummary[]>;
  get(agent: AgentName, sessionId: string): Promise<Session>;
}

/** Coding agents from inside your own process. */
export interface AgentMuxClient {
  readonly adapters: AdapterRegistry;
  readonly models: ModelRegistry;
  readonly plugins: PluginManager;
  readonly sessions: AgentSessions;
  /** Run options under names; `run({ profile })` uses them. */
  readonly profiles: RunProfiles;
  /** Checks the options by a throw, then starts; the handle is there before anything has happened. */
  run(options: LocalRunOptions): RunHandle;
  /** Resolves when every run has ended and what was started for them is closed. */
  close(): Promise<void>;
}

/** A client that runs in this process. Model traffic goes through the gateway of the home, or through one that lives as long as the runs. */
export function createClient({ env = process.env, configPath, homePath }: ClientOptions = {}): AgentMuxClient {
  const { config } = loadConfig({ env, homePath, ...(configPath !== undefined && { path: configPath }) });
  const agents = createCodingAgents({ env, engine: configuredAccess(config) });
  const { adapters, models, plugins } = agents;
  const home = homePath ?? env.ABP_HOME;
  const profiles = createProfiles({ homePath: homeOf(home), projectPath: process.cwd() });
  const { run, close } = createLocalRuns({ agents, profiles, env, configPath, homePath: home });
  const stores = createSessions(env);
  return {
    adapters,
    models,
    plugins,
    profiles,
    sessions: {
      list: (agent, filter) => stores.list(adapters.get(agent), filter),
      get: (agent, sessionId) => stores.get(adapters.get(agent), sessionId),
    },
    run,
    close,
  };
}
