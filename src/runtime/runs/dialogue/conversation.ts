import type { Adapter, Command, EventDraft } from '../../../adapters/adapter.ts';
import type { AgentEvent } from '../../../contract/runs/event.ts';
import { AgentMuxError } from '../../../contract/runs/run-error.ts';
import type { RunOptions } from '../../../contract/runs/run-options.ts';
import type { QueueTime } from '../handle.ts';

export interface ConversationContext {
  readonly adapter: Adapter;
  readonly options: RunOptions;
  /** Approvals are answered while the agent runs, so that it is held in the form that listens. */
  readonly answerable: boolean;
  /** Whether the running agent could be told. */
  tell(command: Command): boolean;
  emit(draft: EventDraft): void;
}

interface Waiting {
  readonly text: string;
  readonly when: QueueTime;
}

/** Messages of the caller to a running agent, beside answers: at once, at a later point of its work, or after it stood still. */
export class Conversation {
  readonly #context: ConversationContext;
  #waiting: Waiting[] = [];
  #held = false;

  constructor(context: ConversationContext) {
    this.#context = context;
  }

  send(text: string): void {
    if (!this.#context.tell({ kind: 'message', text })) throw this.#deaf('takes no messages while it runs');
  }

  steer(text: string): void {
    this.#assertListens('steering');
    if (!this.#context.tell({ kind: 'steer', text })) throw this.#deaf('cannot be steered now');
  }

  queue(text: string, when: QueueTime): void {
    this.#assertListens(when === 'next-turn' ? 'between' : 'steering');
    this.#waiting.push({ text, when });
  }

  /** The agent is to wait after it has stopped, instead of ending. */
  hold(): void {
    this.#assertListens('between');
    this.#held = true;
  }

  /** Lets an agent that was held go on. */
  release(text: string): void {
    if (!this.#held) throw new AgentMuxError('INVALID_STATE_TRANSITION', 'The agent was not interrupted to be continued.');
    this.send(text);
    this.#held = false;
  }

  /** Hands over what waits for this event. */
  heard(event: AgentEvent): void {
    const point = POINTS[event.type];
    if (point === undefined || this.#waiting.length === 0) return;
    const due = this.#waiting.filter(({ when }) => when === point);
    this.#waiting = this.#waiting.filter(({ when }) => when !== point);
    for (const { text } of due) this.#deliver({ kind: 'steer', text });
  }

  /** The agent stands still and would end; whether it goes on instead. What waited for a point that never came is said now. */
  answered({ interrupted }: { readonly interrupted: boolean }): boolean {
    if (this.#held || interrupted) return this.#held;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (this.#deliver({ kind: 'message', text: next.text })) return true;
    }
    return false;
  }

  /** The run is over: what was not said is told. */
  end(): void {
    const left = this.#waiting.length;
    if (left === 0) return;
    this.#waiting = [];
    this.#context.emit({ type: 'debug', level: 'warn', message: `the run ended before ${left} queued messages could be said` });
  }

  #deliver(command: Command & { readonly text: string }): boolean {
    if (this.#context.tell(command)) return true;
    const { code, message, recoverable } = this.#deaf('did not take a queued message');
    this.#context.emit({ type: 'error', code, message, recoverable });
    return false;
  }

  /** Whether the agent can be told something when it has answered. */
  get listens(): boolean {
    return this.#obstacle('between') === undefined;
  }

  /** Refuses before anything happens what this agent, or this run of it, cannot do. */
  #assertListens(when: 'steering' | 'between'): void {
    const obstacle = this.#obstacle(when);
    if (obstacle !== undefined) throw this.#deaf(obstacle);
  }

  #obstacle(when: 'steering' | 'between'): string | undefined {
    const { adapter, options, answerable } = this.#context;
    const rule = adapter.messages;
    if (rule === undefined) return 'takes no messages while it runs';
    if (rule.held === 'asked' && options.nonInteractive !== false && !answerable) {
      return 'takes messages only in a run that is started with nonInteractive: false';
    }
    return when === 'steering' && rule.when !== 'steering' ? 'takes messages between its answers only' : undefined;
  }

  #deaf(why: string): AgentMuxError {
    const { adapter } = this.#context;
    return new AgentMuxError('STDIN_NOT_AVAILABLE', `${adapter.displayName} ${why}.`, { agent: adapter.agent });
  }
}

const POINTS: Readonly<Partial<Record<AgentEvent['type'], QueueTime>>> = {
  tool_result: 'after-tool',
  tool_error: 'after-tool',
  message_stop: 'after-response',
};
