import type { EventDraft } from '../../../adapters/adapter.ts';
import type { Clock } from '../../../base/clock.ts';
import type { RunId } from '../../../contract/run-id.ts';
import { Accumulator, withAccumulated } from '../../../contract/runs/accumulator.ts';
import type { AgentEvent } from '../../../contract/runs/event.ts';

const DELTAS: ReadonlySet<string> = new Set<EventDraft['type']>(['text_delta', 'thinking_delta', 'tool_input_delta']);

/** Makes events of drafts: adds the run, the time, what has accumulated, and how long tools took. */
export class Assembler {
  readonly #runId: RunId;
  readonly #agent: string;
  readonly #clock: Clock;
  readonly #accumulated = new Accumulator();
  /** When each tool call, and the command under way, began. */
  readonly #began = new Map<string, number>();

  constructor(runId: RunId, agent: string, clock: Clock) {
    this.#runId = runId;
    this.#agent = agent;
    this.#clock = clock;
  }

  complete(draft: EventDraft): AgentEvent {
    const now = this.#clock.now();
    const base = { runId: this.#runId, agent: this.#agent, timestamp: now };
    const whole = this.#whole(draft);
    // A draft is an event without these fields and without what accumulates; the union loses that in a spread.
    const event = { ...draft, ...base, ...whole, ...this.#duration(draft, now) } as AgentEvent;
    return withAccumulated(event, this.#accumulated.fields(draft));
  }

  /** Events that only matter to a caller who wants output as it comes. */
  static isDelta(event: { readonly type: string }): boolean {
    return DELTAS.has(event.type);
  }

  /** The whole text as the agent gave it, else what its pieces add up to. */
  #whole(draft: EventDraft): object {
    if (draft.type === 'message_stop') return { text: draft.text === '' ? this.#accumulated.text : draft.text };
    if (draft.type === 'thinking_stop') return { thinking: draft.thinking === '' ? this.#accumulated.thinking : draft.thinking };
    return {};
  }

  #duration(draft: EventDraft, now: number): object {
    switch (draft.type) {
      case 'tool_call_start':
        this.#began.set(draft.toolCallId, now);
        return {};
      case 'tool_result':
        return { durationMs: draft.durationMs || this.#since(draft.toolCallId, now) };
      case 'shell_start':
        this.#began.set('shell', now);
        return {};
      case 'shell_exit':
        return { durationMs: draft.durationMs || this.#since('shell', now) };
      default:
        return {};
    }
  }

  #since(what: string, now: number): number {
    const began = this.#began.get(what) ?? now;
    this.#began.delete(what);
    return Math.max(0, now - began);
  }
}
