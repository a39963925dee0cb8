import type { EventDraft } from '../../../adapters/adapter.ts';
import type { Clock } from '../../../base/clock.ts';
import type { RunId } from '../../../contract/run-id.ts';
import type { AgentEvent } from '../../../contract/runs/event.ts';
import type { RunOptions } from '../../../contract/runs/run-options.ts';
import { Tally } from '../books/tally.ts';
import { Assembler } from './assembler.ts';
import { EventStream } from './event-stream.ts';

export interface TellingOptions extends Pick<RunOptions, 'stream' | 'collectEvents'> {
  readonly runId: RunId;
  readonly agent: string;
  readonly clock: Clock;
  /** Gets ready for the event before anybody hears of it. */
  readonly prepare: (event: AgentEvent) => void;
  /** Sees every event before its readers do. */
  readonly onEvent: ((event: AgentEvent) => void) | undefined;
}

/** Makes events of what a run hears, counts them and hands them on. */
export class Telling {
  readonly stream: EventStream;
  readonly tally = new Tally();
  /** Every event, where the caller asked to collect them. */
  readonly collected: AgentEvent[] = [];
  readonly #options: TellingOptions;
  readonly #assembler: Assembler;
  readonly #toldOnce = new Set<string>();
  #ended = false;

  constructor(options: TellingOptions) {
    this.#options = options;
    this.#assembler = new Assembler(options.runId, options.agent, options.clock);
    this.stream = new EventStream((dropped) =>
      this.#assembler.complete({
        type: 'debug',
        level: 'warn',
        message: `${dropped} events were dropped: they were read more slowly than they came`,
      }),
    );
  }

  /** The event, unless it was told before, nobody wants it, or the run is over. */
  tell(draft: EventDraft): AgentEvent | undefined {
    if (this.#ended || this.#isToldAgain(draft)) return undefined;
    const { stream, collectEvents, prepare, onEvent } = this.#options;
    const event = this.#assembler.complete(draft);
    this.tally.add(event);
    // A caller who wants no stream gets every message in one piece.
    if (stream === false && Assembler.isDelta(event)) return undefined;
    this.tally.eventCount += 1;
    if (collectEvents === true) this.collected.push(event);
    prepare(event);
    onEvent?.(event);
    this.stream.push(event);
    return event;
  }

  /** Lets an event be told again that is told once. */
  forget(type: 'interrupted'): void {
    this.#toldOnce.delete(type);
  }

  end(): void {
    this.#ended = true;
    this.stream.end();
  }

  /** Agents repeat what they cannot stream, and confirm an interruption that we have told already. */
  #isToldAgain(draft: EventDraft): boolean {
    const key = draft.type === 'stream_fallback' ? draft.capability : draft.type;
    if (draft.type !== 'stream_fallback' && draft.type !== 'interrupted') return false;
    const again = this.#toldOnce.has(key);
    this.#toldOnce.add(key);
    return again;
  }
}
