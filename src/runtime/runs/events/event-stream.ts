import type { AgentEvent, EventName, EventOf } from '../../../contract/runs/event.ts';

/** Events that wait for one reader; beyond that the oldest are dropped. */
const HIGH_WATER = 1000;

type AnyListener = (event: AgentEvent) => void;

/** Hands every event of a run to its listeners and to each reader at the reader's own pace. */
export class EventStream {
  readonly #warning: (dropped: number) => AgentEvent;
  readonly #listeners = new Map<EventName, Set<AnyListener>>();
  readonly #readers = new Set<Reader>();
  /** The last events, for readers that come late. */
  readonly #recent: AgentEvent[] = [];
  #ended = false;

  /** `warning` makes the event that stands where others were dropped. */
  constructor(warning: (dropped: number) => AgentEvent) {
    this.#warning = warning;
  }

  push(event: AgentEvent): void {
    this.#recent.push(event);
    if (this.#recent.length > HIGH_WATER) this.#recent.shift();
    for (const reader of this.#readers) reader.push(event);
    for (const listener of [...(this.#listeners.get(event.type) ?? [])]) called(listener, event);
  }

  end(): void {
    this.#ended = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  on<N extends EventName>(type: N, listener: (event: EventOf<N>) => void): void {
    const known = this.#listeners.get(type) ?? new Set();
    // Listeners are filed under the type of the events that they are called with.
    known.add(listener as AnyListener);
    this.#listeners.set(type, known);
  }

  off<N extends EventName>(type: N, listener: (event: EventOf<N>) => void): void {
    this.#listeners.get(type)?.delete(listener as AnyListener); // filed as in `on`
  }

  once<N extends EventName>(type: N, listener: (event: EventOf<N>) => void): void {
    const first = (event: EventOf<N>): void => {
      this.off(type, first);
      listener(event);
    };
    this.on(type, first);
  }

  reader(): AsyncIterator<AgentEvent> {
    const reader = new Reader(this.#recent, this.#warning, () => this.#readers.delete(reader));
    if (this.#ended) reader.end();
    else this.#readers.add(reader);
    return reader;
  }
}

/** A listener that throws is a fault of its owner: it surfaces there, and the run goes on. */
function called(listener: AnyListener, event: AgentEvent): void {
  try {
    listener(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

class Reader implements AsyncIterator<AgentEvent> {
  readonly #queue: AgentEvent[];
  readonly #warning: (dropped: number) => AgentEvent;
  readonly #leave: () => void;
  readonly #waiting: ((result: IteratorResult<AgentEvent>) => void)[] = [];
  #dropped = 0;
  #ended = false;

  constructor(before: readonly AgentEvent[], warning: (dropped: number) => AgentEvent, leave: () => void) {
    this.#queue = [...before];
    this.#warning = warning;
    this.#leave = leave;
  }

  push(event: AgentEvent): void {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) {
      waiting({ value: event, done: false });
      return;
    }
    this.#queue.push(event);
    if (this.#queue.length <= HIGH_WATER) return;
    this.#queue.shift();
    this.#dropped += 1;
  }

  end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting.splice(0)) waiting({ value: undefined, done: true });
  }

  async next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#dropped > 0) {
      const dropped = this.#dropped;
      this.#dropped = 0;
      return { value: this.#warning(dropped), done: false };
    }
    const value = this.#queue.shift();
    if (value !== undefined) return { value, done: false };
    if (this.#ended) return { value: undefined, done: true };
    return await new Promise((resolve) => this.#waiting.push(resolve));
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    this.#leave();
    this.end();
    this.#queue.length = 0;
    return { value: undefined, done: true };
  }
}
