import type { AgentEvent, EventName, EventOf } from '../../contract/event.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { RunOptions } from '../../contract/run-options.ts';
import type { PendingInteraction, RunResult, RunState } from '../../contract/run-result.ts';

/** What a caller answers to an approval or a question. */
export type InteractionAnswer =
  | { readonly approve: true }
  | { readonly approve: false; readonly reason?: string }
  | { readonly text: string };

/** Questions of a running agent. */
export interface Interactions {
  readonly pending: readonly PendingInteraction[];
  /** Called for every question from now on; returns how to stop that. */
  onPending(listener: (interaction: PendingInteraction) => void): () => void;
  /** Throws INTERACTION_NOT_FOUND. */
  respond(id: string, answer: InteractionAnswer): void;
  approveAll(): void;
  denyAll(reason?: string): void;
}

/** What a caller adds to the options in the same process. */
export interface RunCallbacks {
  /** Also called in `yolo`, where its answer may still be no; never in `deny`. */
  onApprovalRequest?(event: EventOf<'approval_request'>): Promise<boolean> | boolean;
  onInputRequired?(event: EventOf<'input_required'>): Promise<string> | string;
}

/** Options of a run in this process. */
export type LocalRunOptions = RunOptions & RunCallbacks;

type Listener<N extends EventName> = (event: EventOf<N>) => void;

/** A run under way. Awaiting it gives its result, iterating over it its events; it never rejects. */
export interface RunHandle extends AsyncIterable<AgentEvent>, PromiseLike<RunResult> {
  readonly runId: RunId;
  readonly agent: string;
  readonly state: RunState;
  readonly interaction: Interactions;
  on<N extends EventName>(type: N, listener: Listener<N>): this;
  off<N extends EventName>(type: N, listener: Listener<N>): this;
  once<N extends EventName>(type: N, listener: Listener<N>): this;
  result(): Promise<RunResult>;
  catch<T>(onRejected: (reason: unknown) => T): Promise<RunResult | T>;
  finally(onSettled: () => void): Promise<RunResult>;
  /** A message to the running agent. Throws STDIN_NOT_AVAILABLE where it takes none. */
  send(text: string): void;
  /** Answers the oldest open approval, or the named one. */
  approve(interactionId?: string): void;
  deny(interactionId?: string, reason?: string): void;
  /** Asks the agent to stop what it does; where it cannot be asked, its group gets SIGINT. */
  interrupt(): void;
  /** Ends the agent: SIGTERM to its group, after the grace period SIGKILL. Resolves when it is gone. */
  abort(): Promise<void>;
  pause(): void;
  resume(): void;
}
