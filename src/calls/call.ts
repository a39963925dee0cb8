import type { Plane, ReceiptUsage } from '../contract/receipts/parts.ts';
import type { RunId } from '../contract/run-id.ts';
import type { Mode } from '../contract/support.ts';
import type { Scopes } from './scopes.ts';

/**
 * The ways to an engine. `relay` and `mapped` answer a vendor's SDK, `raw` and `splice` pass bytes of a path that no dialect describes,
 * `turn` is a model call of an agent, `run` starts a coding agent, whose own model calls come back as `relay` or `mapped`.
 */
export const WAYS = ['relay', 'mapped', 'raw', 'splice', 'turn', 'run'] as const;
export type Way = (typeof WAYS)[number];

const PLANES: Readonly<Record<Way, Plane>> = {
  relay: 'gateway',
  mapped: 'gateway',
  raw: 'gateway',
  splice: 'gateway',
  turn: 'agent',
  run: 'run',
};

/** The part of the product that calls of a way belong to. */
export function planeOf(way: Way): Plane {
  return PLANES[way];
}

/** On whose behalf a call is made. */
export interface CallOwner {
  /** Null for a caller without a key. */
  readonly keyId: string | null;
  /** How the key is shown to people. */
  readonly keyPrefix?: string | undefined;
  /** Rights of the key; undefined for the token of the home and for `local`, from whom nothing is held back. */
  readonly scopes?: Scopes | undefined;
  /** The run that this call is part of. */
  readonly parent: RunId | null;
  readonly tags: readonly string[];
  /** The trace that the caller's own work is part of, where it says so and somebody collects traces. */
  readonly traceparent?: string | undefined;
}

/** Callers without a key share one part of what is divided among callers. */
export const UNKEYED = 'local';

/** Whose part of it a call takes. A run's calls take that of the key that asked for the run: else its holder had one more with each run. */
export function shareOfOwner({ keyId, scopes }: Pick<CallOwner, 'keyId' | 'scopes'>): string {
  return (scopes?.run === undefined ? keyId : scopes.run.owner) ?? UNKEYED;
}

/** Tokens that a call may use at most, as far as the request itself says. */
export interface TokenBound {
  /** An estimate from the bytes of the request. */
  readonly input: number;
  /** Of all answers together; undefined where the request sets no limit. */
  readonly output: number | undefined;
  /** The bytes of the request, which its input cannot have more tokens than. Absent where the estimate is all that is known. */
  readonly bytes?: number;
  /** Answers that the request asks for. */
  readonly answers?: number;
  /** Ways of being served that the request asks for and that may cost more. */
  readonly ways?: readonly string[];
  /** It asks for a cache that lives for an hour, which costs more to write. */
  readonly hourCache?: boolean;
  /** The vendor may add to its input what its bytes do not show. */
  readonly mayGrow?: boolean;
}

/** A call that wants to reach an engine, as far as somebody may want to refuse or count it. */
export interface Call {
  readonly runId: RunId;
  readonly way: Way;
  readonly owner: CallOwner;
  /** The engine that is called. For a run that goes past the gateway: the engine of the agent's own vendor, null where there is none. */
  readonly engine: string | null;
  /** The model name that the engine gets; null where the call names none. */
  readonly model: string | null;
  /**
   * Models that the call may reach beside that one: those that its body names as fallbacks or for tools, or `unknown` where nobody here
   * can tell (no model is named, a stored prompt may choose one, nobody reads the body). Absent where no rule about models asks.
   */
  readonly moreModels?: readonly string[] | 'unknown' | undefined;
  /** The dialect that the caller speaks; null where none describes the call, and for calls of ours. */
  readonly dialect: string | null;
  /** Null for a run: each of its model calls has a mode of its own. */
  readonly mode: Mode | null;
  /** Names of the tools that the request offers; undefined where the body is not read. */
  readonly tools?: readonly string[] | undefined;
  /** The tokens that the call may use. Absent where the body is not read. */
  readonly bound?: TokenBound | undefined;
  /** The coding agent that a run starts. */
  readonly agent?: string | undefined;
  /** The run's model traffic goes past the gateway. */
  readonly direct?: boolean | undefined;
  /** Whether it may wait for room under a limit; a call that has waited, or that takes the place of a failed one, may not. */
  readonly mayWait?: boolean | undefined;
}

/**
 * How an admitted call ended. `refused`: another check refused it after this one had allowed it. `dropped`: another
 * try takes its place, it could not begin, or nobody was there to take it.
 */
export interface CallEnding {
  readonly status: 'completed' | 'failed' | 'cancelled' | 'refused' | 'dropped';
  readonly usage: ReceiptUsage | null;
  /** The model that answered, where the engine said so. */
  readonly upstreamModel: string | null;
  /** Billionths of a US dollar, where the caller of `settle` knows them; model calls are priced later, from their usage. */
  readonly nanoUsd: number | null;
}
