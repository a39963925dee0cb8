import { AbpError } from '../contract/errors.ts';
import { Accumulator, withAccumulated } from '../contract/runs/accumulator.ts';
import type { AgentEvent } from '../contract/runs/event.ts';
import type { RunOptions } from '../contract/runs/run-options.ts';
import type { PendingInteraction, RunResult, RunState } from '../contract/runs/run-result.ts';
import type { WorkOrder } from '../contract/work-orders/work-order.ts';
import { followEvents } from './events.ts';
import { type Connection, getDocument, send } from './http.ts';

/** The point at which a queued message is said; one that never comes is the end of the answer. */
export type QueueTime = 'next-turn' | 'after-tool' | 'after-response';

/** An answer to an approval or a question. */
export type RemoteAnswer = { readonly approve: true } | { readonly approve: false; readonly reason?: string } | { readonly text: string };

/** Where a run stands. */
export interface RemoteRunView {
  readonly status: string;
  /** Null when it is not under way. */
  readonly state: RunState | null;
  readonly interactions: readonly PendingInteraction[];
  readonly result: Partial<RunResult> | null;
}

/** Starts a run of a coding agent on the machine of a server. With a `runId` of yours a start whose answer was lost can be sent again. */
export async function startRun(connection: Connection, options: RunOptions): Promise<RemoteRun> {
  const answer = await send(connection, '/v1/runs', { body: options });
  const { run_id: runId } = (await answer.json()) as { readonly [Member in 'run_id']: string }; // the server's own document
  return new RemoteRun(connection, runId);
}

/** Who executes a work order; without a backend the server chooses the best one. */
export interface OrderWish {
  /** `engine:sim`, `adapter:claude`, `host:codex`, `sidecar:mine`. */
  readonly backend?: string | undefined;
  /** The engine that serves an adapter, a host or a sidecar. */
  readonly engine?: string | undefined;
  /** A run of yours that is under way, which the new one is part of. */
  readonly parent?: string | undefined;
}

/** Starts a run that executes a work order on the machine of a server. */
export async function startWorkOrder(connection: Connection, order: WorkOrder, wish: OrderWish = {}): Promise<RemoteRun> {
  const named = Object.entries(wish).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const query = named.length === 0 ? '' : `?${new URLSearchParams(named)}`;
  const answer = await send(connection, `/v1/work-orders${query}`, { body: order });
  const { run_id: runId } = (await answer.json()) as { readonly [Member in 'run_id']: string }; // the server's own document
  return new RemoteRun(connection, runId);
}

/**
 * A run of a coding agent on a server: what the handle of a run in this process can do, over HTTP. It is not a promise itself, so that
 * it can be returned from an async function; `result` waits for the end.
 */
export class RemoteRun implements AsyncIterable<AgentEvent> {
  readonly runId: string;
  readonly #connection: Connection;

  constructor(connection: Connection, runId: string) {
    this.#connection = connection;
    this.runId = runId;
  }

  /** Every event from the first one on, until the end of the run. */
  async *[Symbol.asyncIterator](): AsyncGenerator<AgentEvent, RunResult> {
    const left = new AbortController();
    try {
      const accumulator = new Accumulator();
      const options = { after: '0', signal: left.signal };
      for await (const { event, data } of followEvents(this.#connection, `/v1/runs/${this.runId}/events`, options)) {
        const value: unknown = await new Response(data).json();
        if (event === 'run_result') return resultOf(value);
        const told = value as AgentEvent; // the server's own document
        yield withAccumulated(told, accumulator.fields(told));
      }
      throw new AbpError('internal', 'a run’s events ended without its result');
    } finally {
      left.abort();
    }
  }

  /** Its result, once it has ended. */
  async result(): Promise<RunResult> {
    const events = this[Symbol.asyncIterator]();
    for (let next = await events.next(); ; next = await events.next()) if (next.done === true) return next.value;
  }

  /** Where it stands, and what it waits for. */
  async view(): Promise<RemoteRunView> {
    return await getDocument<RemoteRunView>(this.#connection, `/v1/runs/${this.runId}`);
  }

  /** A message to the running agent, at once. Throws STDIN_NOT_AVAILABLE where it takes none, as the next three do. */
  send(text: string): Promise<void> {
    return this.#tell('input', { text });
  }

  queue(text: string, { when = 'next-turn' }: { readonly when?: QueueTime } = {}): Promise<void> {
    return this.#tell('input', { text, when });
  }

  /** A message that must change the work under way; agents that listen only between their answers refuse it. */
  steer(text: string): Promise<void> {
    return this.#tell('input', { text, when: 'steer' });
  }

  /** Lets an agent go on that was interrupted with `hold`. */
  continue(text?: string): Promise<void> {
    return this.#tell('continue', text === undefined ? {} : { text });
  }

  /** Asks the agent to stop what it does; the run ends with that, unless `hold` keeps the agent for `continue`. */
  interrupt({ hold = false }: { readonly hold?: boolean } = {}): Promise<void> {
    return this.#tell('interrupt', { hold });
  }

  pause(): Promise<void> {
    return this.#tell('pause');
  }

  resume(): Promise<void> {
    return this.#tell('resume');
  }

  /** Ends the agent; `result` resolves when it is gone. */
  abort(): Promise<void> {
    return this.#tell('cancel');
  }

  /** Answers an approval or a question; its id is in the event that asked. */
  respond(interactionId: string, answer: RemoteAnswer): Promise<void> {
    return this.#tell(`interactions/${encodeURIComponent(interactionId)}`, answer);
  }

  async #tell(what: string, body: object = {}): Promise<void> {
    await send(this.#connection, `/v1/runs/${this.runId}/${what}`, { body });
  }
}

function resultOf(value: unknown): RunResult {
  const { type: _type, ...result } = value as RunResult & { readonly type: string }; // the server's own document
  return result;
}
