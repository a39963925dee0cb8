import type { RunId } from '../../contract/run-id.ts';
import type { Settlement } from '../admission.ts';

/** Thrown instead of a refusal: the call waits for its turn, and asks again then. */
export class MustWait extends Error {
  readonly place: WaitingPlace;

  constructor(place: WaitingPlace) {
    super('the call waits for its turn');
    this.place = place;
  }
}

/** The place of a call in the queue. */
export interface WaitingPlace {
  /** Resolves when the call may ask again: it was let in, or has waited long enough to be refused. */
  readonly turn: Promise<void>;
  /** The caller has left. */
  leave(): void;
}

/** A call that waits. */
export interface Waiter {
  readonly run: RunId;
  /** Whose call it is: callers take turns. */
  readonly caller: string;
  /** The limit that it does not fit into. */
  readonly limit: string;
  /** Milliseconds until it fits; 0 where it does, undefined where that depends on the end of another call. */
  readonly waitMs: (now: number) => number | undefined;
  /** Takes what the call needs. */
  readonly take: () => Settlement;
}

interface Waiting extends Waiter {
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
}

const DROPPED = { status: 'dropped', usage: null, upstreamModel: null, nanoUsd: null } as const;
/** A clock that is asked more often does not make anybody's turn come earlier. */
const LEAST_PAUSE_MS = 5;

/** How long calls wait, and how many of them. */
export interface QueueBounds {
  readonly waitMs: number;
  readonly most: number;
}

/** Calls that wait for room under a limit. Callers take turns: one that sends without pause waits behind itself, not before the others. */
export class FairQueue {
  readonly bounds: QueueBounds;
  /** Waiting calls of each caller at each limit, the caller whose turn is next first. */
  readonly #lines = new Map<string, Waiting[]>();
  readonly #waitingAt = new Map<string, number>();
  /** Room that was taken for calls which have not come back for it yet. */
  readonly #granted = new Map<RunId, Settlement>();
  #size = 0;
  #clock: NodeJS.Timeout | undefined;

  constructor(bounds: QueueBounds) {
    this.bounds = bounds;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether calls wait at this limit: a new one goes behind them. */
  waitsAt(limit: string): boolean {
    return this.#size > 0 && this.#waitingAt.has(limit);
  }

  /** The room that was taken for a call whose turn has come. */
  granted(run: RunId): Settlement | undefined {
    if (this.#granted.size === 0) return undefined;
    const settlement = this.#granted.get(run);
    this.#granted.delete(run);
    return settlement;
  }

  enter(waiter: Waiter): WaitingPlace {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => this.#remove(waiting), this.bounds.waitMs);
    const waiting: Waiting = { ...waiter, resolve, timer };
    const name = lineOf(waiter);
    const line = this.#lines.get(name);
    if (line === undefined) this.#lines.set(name, [waiting]);
    else line.push(waiting);
    this.#count(waiter.limit, 1);
    // There may be room for this caller that those before it may not take.
    this.pump();
    return { turn: promise, leave: () => this.#leave(waiting) };
  }

  /** Room may have become free. */
  pump(): void {
    if (this.#size === 0) return;
    const now = performance.now();
    for (const [name, line] of this.#lines) {
      const [first] = line;
      if (first === undefined || first.waitMs(now) !== 0) continue;
      // The line goes to the end, where this walk comes by once more.
      this.#lines.delete(name);
      line.shift();
      if (line.length > 0) this.#lines.set(name, line);
      this.#count(first.limit, -1);
      clearTimeout(first.timer);
      this.#granted.set(first.run, first.take());
      first.resolve();
    }
    this.#wind();
  }

  #leave(waiting: Waiting): void {
    this.granted(waiting.run)?.(DROPPED);
    this.#remove(waiting);
  }

  #remove(waiting: Waiting): void {
    const name = lineOf(waiting);
    const line = this.#lines.get(name);
    const at = line?.indexOf(waiting) ?? -1;
    waiting.resolve();
    clearTimeout(waiting.timer);
    if (line === undefined || at === -1) return;
    line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(name);
    this.#count(waiting.limit, -1);
  }

  #count(limit: string, change: number): void {
    this.#size += change;
    const count = (this.#waitingAt.get(limit) ?? 0) + change;
    if (count === 0) this.#waitingAt.delete(limit);
    else this.#waitingAt.set(limit, count);
  }

  /** Limits by the minute make room as time passes. */
  #wind(): void {
    clearTimeout(this.#clock);
    if (this.#size === 0) return;
    const now = performance.now();
    const waits = [...this.#lines.values()].flatMap(([first]) => first?.waitMs(now) ?? []);
    if (waits.length > 0) this.#clock = setTimeout(() => this.pump(), Math.max(LEAST_PAUSE_MS, Math.min(...waits))).unref();
  }
}

function lineOf({ caller, limit }: Waiter): string {
  return `${caller}\n${limit}`;
}
