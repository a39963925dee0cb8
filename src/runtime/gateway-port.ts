import type { Socket } from 'node:net';
import type { WireThinking } from '../adapters/adapter.ts';
import type { Admitted } from '../calls/admission.ts';
import type { Call } from '../calls/call.ts';
import type { Capability } from '../contract/capability.ts';
import type { EmulationEntry, FidelityEntry } from '../contract/negotiation.ts';
import type { ReceiptUsage } from '../contract/receipts/parts.ts';
import type { Receipt } from '../contract/receipts/receipt.ts';
import type { RunId } from '../contract/run-id.ts';
import type { AgentEvent } from '../contract/runs/event.ts';
import type { OrderLimits } from '../contract/runs/run-limits.ts';
import type { TrafficRow } from '../contract/runs/run-traffic.ts';
import type { Compatibility } from '../contract/support.ts';
import type { CloseFact, OpenFact } from '../receipts/journal/facts.ts';
import type { PolicyWish } from './policy/rules.ts';
import type { DiskShare } from './workspaces/disk-share.ts';

/** The facts that a run of a coding agent tells when it begins; the rest of the fact is the same for all of them. */
export type RunOpening = {
  /** The run lasts as long as this process, which does not say when it is over: a shell that has the variables of an agent. */
  readonly untilEndOf?: number;
} & Pick<
  OpenFact,
  | 'run'
  | 'at'
  | 'task'
  | 'dialect'
  | 'engine'
  | 'backend'
  | 'requestedModel'
  | 'upstreamModel'
  | 'compatibility'
  | 'fidelity'
  | 'request'
  | 'enforcement'
  | 'rules'
  | 'tags'
  | 'workOrder'
> &
  Partial<Pick<OpenFact, 'negotiation'>>;

/** The facts that it tells when it ends. */
export type RunClosing = Pick<
  CloseFact,
  | 'run'
  | 'at'
  | 'status'
  | 'reason'
  | 'error'
  | 'upstreamModel'
  | 'emulations'
  | 'fidelity'
  | 'answerFidelity'
  | 'eventCount'
  | 'usage'
  | 'toolCalls'
  | 'cost'
  | 'rules'
  | 'changeSet'
  | 'artifacts'
  | 'approvals'
  | 'check'
  | 'entrants'
  | 'sidecarReceipt'
> & {
  readonly lastByteMs: number;
  readonly workspaceDelta: NonNullable<CloseFact['workspaceDelta']> | null;
  readonly backendVersion: string | null;
};

/** The terms of a run key. Calls made with it need no headers of ours: the key says what they may do. */
export interface RunKeyRequest {
  readonly runId: RunId;
  readonly agent: string;
  /** The engine that every call goes to, such as `gemini` or `sim:claude`. */
  readonly engine: string;
  /** The model that every call gets, whatever the agent writes; null leaves it alone. */
  readonly model: string | null;
  /** Capabilities that may be approximated. */
  readonly emulate: readonly Capability[];
  /** The features of the agent's requests, and what may become of each. */
  readonly traffic: readonly TrafficRow[];
  readonly compatibility: Compatibility;
  readonly thinking: WireThinking | null;
  /** Globs of tools that may be offered and called; null: all of them. */
  readonly tools?: { readonly allowed: readonly string[]; readonly denied: readonly string[] } | null;
  /** Paths of the vendor that no dialect describes; for agents that come with a login of their own. */
  readonly raw: boolean;
  readonly tags: readonly string[];
  /** Milliseconds since the epoch; the key also ends with the run. */
  readonly expiresAt: number;
}

/** The usage of a run's calls through the gateway so far. */
export interface RunSpend {
  readonly calls: number;
  readonly usage: ReceiptUsage;
  /** Billionths of a US dollar; null when no call had a price. */
  readonly nanoUsd: number | null;
  readonly priceVersion: string | null;
  /** The fate of the calls; absent where a server of an earlier version does not tell. */
  readonly fates?: RunFates;
}

/** A run that has called no model. */
export const NOTHING_SPENT: RunSpend = {
  calls: 0,
  usage: {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    thinking_tokens: 0,
    web_search_requests: 0,
    estimated: false,
  },
  nanoUsd: null,
  priceVersion: null,
};

/** The fate of a run's model calls, summed over all of them. */
export interface RunFates {
  /** The model that wrote most of the answers, as the engine got its name. */
  readonly upstreamModel: string | null;
  readonly emulations: readonly EmulationEntry[];
  readonly fidelity: readonly FidelityEntry[];
  readonly answerFidelity: readonly FidelityEntry[];
}

/** Where an agent wants its model calls to go. */
export interface EngineWish {
  /** As the caller named it; undefined means the engine of the agent's own vendor. */
  readonly engine: string | undefined;
  /** The model that will be asked for, where it is known. */
  readonly model?: string | undefined;
  /** The dialect that the agent speaks by itself. */
  readonly dialect: string;
  /** Every dialect it can be told to speak. */
  readonly dialects: readonly string[];
}

/** Whether an engine can serve a run, and on whose credential. */
export type EngineOffer =
  /** `caller`: the engine has no key of ours and takes the agent's own login, unchanged and in its own dialect only. */
  | {
      readonly engine: string;
      readonly credential: 'ours' | 'caller';
      /** It speaks the dialect of the agent itself. */
      readonly speaksDialect: boolean;
      /** A dialect that both speak, the agent's own first; absent where they have none in common. */
      readonly shared?: string;
      /** It does not know the model names that the agent uses by itself. */
      readonly needsModel: boolean;
      /** Of an engine that the configuration of the gateway adds: the one that it is like. */
      readonly base?: string;
      /** Tokens that the model takes, where the engine or its configuration says so. */
      readonly contextWindow?: number;
    }
  | { readonly engine: string; readonly missing: string };

/** Whether the engine of a run can be reached, as far as its calls have shown: `refused` after three that reached nothing, and none that did. */
export type EngineWord =
  | { readonly state: 'reached' }
  | { readonly state: 'unknown' /** Where calls found nobody, which may be in vain a few times. */; readonly message?: string }
  | { readonly state: 'refused' /** Where and why, as the calls were told. */; readonly message: string };

/** A run that wants to start its agent. */
export type RunAdmissionAsk = Pick<Call, 'runId' | 'engine' | 'model' | 'dialect' | 'agent' | 'direct'> & {
  readonly tags: readonly string[];
};

/** That a run may start its agent. The gateway port alone makes one: of its own admission, or because the server said yes. */
export class RunAdmitted {
  readonly #by: Admitted | 'server';

  constructor(by: Admitted | 'server') {
    this.#by = by;
  }

  /** Absent where a server in another process holds it. */
  get admitted(): Admitted | undefined {
    return this.#by === 'server' ? undefined : this.#by;
  }
}

/** The rules that the operator holds every run to. */
export type OperatorPolicy = PolicyWish & {
  /** Every coding agent is confined. */
  readonly sandbox?: boolean | undefined;
  /** Limits of every run; of these and its own the lower count. */
  readonly limits?: OrderLimits | undefined;
  /** The consequence of a rule that nothing here holds: the run is refused, or told of, or something outside holds it. */
  readonly enforcement?: 'enforced' | 'advisory' | 'external' | undefined;
};

/** The gateway as runs of coding agents see it. */
export interface GatewayPort {
  /** `http://127.0.0.1:8088`, without a slash at the end. */
  readonly url: string;
  /** Whether a limit of a run holds: not while callers without a key may come past it. */
  readonly enforcement: Receipt['enforcement'];
  readonly policy?: OperatorPolicy;
  /** The caller's share of the disk for staged workspaces; absent where the gateway is in another process. */
  readonly disk?: DiskShare;
  /** Takes a connection that came out of the room of a run. Absent where the gateway is in another process. */
  takeConnection?(run: RunId, socket: Socket): void;
  /** Takes an id that a caller has made for its run; throws `conflict` where a run has it already. */
  claim(run: RunId): Promise<void>;
  offer(wish: EngineWish): Promise<EngineOffer>;
  /** Asks whether the agent may be started; throws where a check refuses. A second ask of the same run finds the first answer. */
  admit(ask: RunAdmissionAsk): Promise<RunAdmitted>;
  /** The secret of a key that dies with the run. */
  mintRunKey(request: RunKeyRequest): Promise<string>;
  dropRunKey(run: RunId): Promise<void>;
  /** Whether somebody wants the run ended who could not tell the process that drives it. Absent: nobody can. */
  cancelled?(run: RunId): Promise<boolean>;
  /** Whether the run's engine can be reached. Absent: nobody can tell. */
  engineWord?(run: RunId): Promise<EngineWord>;
  /** The run's span, for programs that it starts. Absent where nobody collects traces. */
  traceparent?(run: RunId): string | undefined;
  /** Hears what the agent of the run does, for its trace. Absent where nobody collects traces. */
  heard?(run: RunId, event: AgentEvent): void;
  /** `ended`: no call of the run is under way any more, and the last ones are waited for. */
  spent(run: RunId, state: 'running' | 'ended'): Promise<RunSpend>;
  /** Journals that a run of a coding agent began. Written when it resolves. */
  opened(opening: RunOpening): Promise<void>;
  closed(closing: RunClosing): Promise<void>;
}
