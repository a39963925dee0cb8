import type { Adapter, NativeThinking } from '../../adapters/adapter.ts';
import type { Clock } from '../../base/clock.ts';
import type { FidelityEntry } from '../../contract/negotiation.ts';
import type { ReceiptNegotiation, WorkOrderRecord, WorkspaceDelta } from '../../contract/receipts/parts.ts';
import type { AgentCapabilities, ModelCapabilities } from '../../contract/runs/coding-agent.ts';
import type { AgentEvent } from '../../contract/runs/event.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { GatewayPort, RunAdmitted } from '../gateway-port.ts';

/** An agent as it was found on this machine. */
export interface Detected {
  readonly installed: boolean;
  readonly version?: string;
  /** Why it cannot be used, where there is a command of its name. */
  readonly problem?: string;
  /** Where its command is. */
  readonly path?: string;
  /** That the adapter was not tried with this version. */
  readonly untested?: string;
  /** The abilities of this version. */
  readonly effective: AgentCapabilities;
}

/** The wishes of a run about its model and its thinking, in the words of the agent. */
export interface Wanted {
  readonly model?: ModelCapabilities;
  readonly modelId?: string;
  readonly thinking: NativeThinking;
  /** Remarks about wishes that could not be taken as they were, such as a budget outside of the model's range. */
  readonly notes: readonly string[];
}

/** Answers about agents and models, which runs need and `coding-agents` has. */
export interface AgentKnowledge {
  /** The abilities of the installed version, as far as the options depend on it; those of the profile where there is none. */
  effective(adapter: Adapter, options: RunOptions, env: Readonly<Record<string, string | undefined>>): AgentCapabilities;
  /** Looks again, on the PATH of the run. */
  detect(adapter: Adapter, env: Readonly<Record<string, string | undefined>>): Promise<Detected>;
  /** Every gate; throws before anything is spawned. */
  check(adapter: Adapter, effective: AgentCapabilities, options: RunOptions): void;
  wanted(adapter: Adapter, options: RunOptions): Wanted;
}

/** Shared by every run of a process. */
export interface RunPlace {
  readonly agents: AgentKnowledge;
  /** The home of this installation; folders of runs are made in it. */
  readonly homePath: string;
  /** The environment that children get a part of. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** Of one run alone, besides its adapter and its options. */
export interface RunTies {
  /** Opened when the run begins; the run's own receipt goes through it as well. */
  readonly gateway: () => Promise<GatewayPort>;
  /** The gateway has let the run in already; without it the run asks when it knows where its model calls go. */
  readonly admitted?: RunAdmitted;
  /** The work order that the run executes. */
  readonly commission?: Commission;
  /** Knowledge of the backend, where it is not one of the coding agents. */
  readonly agents?: AgentKnowledge;
  /** The process with whose end the run ends; by default this one. */
  readonly ownerPid?: number;
  /** Sees every event before its readers do. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** The process of an agent began. */
  readonly onProcess?: (pid: number) => void;
  /** Gets the changes of the run in its folder, once it has ended; null where that is not known. */
  readonly onChanges?: (delta: WorkspaceDelta | null) => void;
}

/** Facts that a work order adds to the receipt of the run that executes it. */
export interface Commission {
  readonly workOrder: WorkOrderRecord;
  readonly negotiation: ReceiptNegotiation | null;
  readonly fidelity: readonly FidelityEntry[];
  /** Of the order, which is what was asked. */
  readonly request: { readonly sha256: string; readonly bytes: number };
}

/** Everything a run needs besides its adapter and its options; `RunStarter` puts it together. */
export type RunDeps = RunPlace & RunTies;
