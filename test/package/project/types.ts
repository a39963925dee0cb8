import type {
  AdapterRegistry,
  AgentAdapter,
  AgentCapabilities,
  AgentEvent,
  AgentMuxClient,
  AgentName,
  ApprovalMode,
  Attachment,
  AuthMethod,
  AuthState,
  BaseEvent,
  BuiltInAgentName,
  CostRecord,
  Detection,
  ErrorCode,
  EventOf,
  ExitReason,
  InstallInstruction,
  InstallMethod,
  McpServerConfig,
  ModelCapabilities,
  ModelRegistry,
  ModelValidationResult,
  PendingInteraction,
  PluginFormat,
  PluginManager,
  PluginRegistry,
  RetryPolicy,
  RunHandle,
  RunHooks,
  RunOptions,
  RunProfile,
  RunResult,
  RunTokenUsage,
  SessionSummary,
  ThinkingEffortLevel,
} from 'agent-backplane';
import type {
  CapabilityManifest,
  CapabilityRequirement,
  CapabilityRequirements,
  Compatibility,
  CompatibilityReport,
  EmulationEntry,
  EmulationReport,
  EmulationStrategy,
  IrConversation,
  MinSupport,
  NegotiationResult,
  Receipt,
  SupportLevel,
  WorkOrder,
} from 'agent-backplane/contract';
import type { EventDraft, Sidecar } from 'agent-backplane/sidecar';

/** A name that is exported as `any` says nothing; each of these must be a type of its own. */
type Known<T> = 0 extends 1 & T ? never : T;
type EachKnown<T extends readonly unknown[]> = { [At in keyof T]: Known<T[At]> };

/** Every type that the references name, so that a name that is missing is an error of the compiler. */
export type Named = EachKnown<
  [
    AdapterRegistry,
    AgentAdapter,
    AgentCapabilities,
    AgentEvent,
    AgentMuxClient,
    AgentName,
    ApprovalMode,
    Attachment,
    AuthMethod,
    AuthState,
    BaseEvent,
    BuiltInAgentName,
    CostRecord,
    Detection,
    ErrorCode,
    EventOf<'session_fork'>,
    ExitReason,
    InstallInstruction,
    InstallMethod,
    McpServerConfig,
    ModelCapabilities,
    ModelRegistry,
    ModelValidationResult,
    PendingInteraction,
    PluginFormat,
    PluginManager,
    PluginRegistry,
    RetryPolicy,
    RunHandle,
    RunHooks,
    RunOptions,
    RunProfile,
    RunResult,
    RunTokenUsage,
    SessionSummary,
    ThinkingEffortLevel,
    CapabilityManifest,
    CapabilityRequirement,
    CapabilityRequirements,
    Compatibility,
    CompatibilityReport,
    EmulationEntry,
    EmulationReport,
    EmulationStrategy,
    IrConversation,
    MinSupport,
    NegotiationResult,
    Receipt,
    SupportLevel,
    WorkOrder,
    Sidecar,
    EventDraft,
  ]
>;

/** A program that handles every event can be written: the members that all have, and those of one type. */
export function described(event: AgentEvent): string {
  const base: BaseEvent = event;
  return event.type === 'session_fork' ? `${event.sessionId} of ${event.forkedFrom}` : `${base.agent} ${base.type}`;
}

/** Codes of errors are a closed list, so that a `switch` over them can be checked. */
export function isLimit(code: ErrorCode): boolean {
  return code === 'RATE_LIMITED' || code === 'CONTEXT_EXCEEDED';
}
