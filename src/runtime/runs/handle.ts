import type { RunId } from '../../contract/run-id.ts';
import type { AgentEvent, EventName, EventOf } from '../../contract/runs/event.ts';
import type { RunHooks } from '../../contract/runs/run-hooks.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { PendingInteraction, RunResult, RunState } from '../../contract/runs/run-result.ts';

/** A caller's answer to an approval or a question. */
export type InteractionAnswer = ({ readonly approve: boolean; readonly reason?: string } | { readonly text: string }) & {
  /** Who answers, for the receipt. */
  readonly by?: string;
};

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

/** Functions that a caller in the same process adds to the options. */
export interface RunCallbacks {
  /** Also called in `yolo`, where its answer may still be no; never in `deny`. */
  onApprovalRequest?(event: EventOf<'approval_request'>): Promise<boolean> | boolean;
  onInputRequired?(event: EventOf<'input_required'>): Promise<string> | string;
  /** Called at points of the run; what each can do with an agent is in `hookTable`. They narrow what may happen, and approve nothing. */
  readonly hooks?: RunHooks;
}

/** Options of a run in this process. */
export type LocalRunOptions = RunOptions & RunCallbacks;

/** The point at which a queued message is said; one that never comes is the end of the answer. */
export const QUEUE_TIMES = ['next-turn', 'after-tool', 'after-response'] as const;
export type QueueTime = (typeof QUEUE_TIMES)[number];

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
  /** A message to the running agent, at once. Throws STDIN_NOT_AVAILABLE where it takes none, as the next three do. */
  send(text: string): void;
  /** A message for later: after the answer under way (`next-turn`, the default), after the next tool, or after the next message. */
  queue(text: string, options?: { readonly when?: QueueTime }): void;
  /** A message that must change the work under way; agents that listen only between their answers refuse it. */
  steer(text: string): void;
  /** Lets an agent go on that was interrupted with `hold`. Throws INVALID_STATE_TRANSITION where none was. */
  continue(text?: string): void;
  /** Answers the oldest open approval, or the named one. */
  approve(interactionId?: string): void;
  deny(interactionId?: string, reason?: string): void;
  /**
   * Asks the agent to stop what it does; where it cannot be asked, its group gets SIGINT. The run ends with that, unless `hold` keeps the
   * agent for `continue`.
   */
  interrupt(options?: { readonly hold?: boolean }): void;
  /** Ends the agent: SIGTERM to its group, after the grace period SIGKILL. Resolves when it is gone. */
  abort(): Promise<void>;
  pause(): void;
  resume(): void;
}
