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

/** What keeps a call from being let in. */
export interface Blocked {
  /** The limit that it does not fit into. */
  readonly limit: string;
  /** Milliseconds until it fits; undefined where that depends on the end of another call. */
  readonly waitMs: number | undefined;
}

/** A call that waits. */
export interface Waiter {
  readonly run: RunId;
  /** Whose call it is: callers take turns. */
  readonly caller: string;
  /** The limit that it waits at. */
  readonly limit: string;
  /** What it does not fit into now; undefined where it fits. */
  readonly blocked: (now: number) => Blocked | undefined;
  /** The same for the limit that it waits at and for any call whatever: where that is full, nobody else needs to be asked. */
  readonly full: (now: number) => Blocked | undefined;
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

/** The calls of one caller that wait at one limit. */
interface Line {
  readonly caller: string;
  readonly waiting: Waiting[];
  /** Grows with each turn that somebody takes: of two lines the one with the smaller number has waited longer for its turn. */
  turn: number;
}

/** Those who wait at one limit, by caller; the one whose turn is next first. */
interface Room {
  readonly limit: string;
  readonly lines: Map<string, Line>;
  clock: NodeJS.Timeout | undefined;
}

/**
 * Calls that wait for room under a limit. Callers take turns: one that sends without pause waits behind itself, not before the others. Where room
 * becomes free, those are asked who wait for it, and no more of them than find some: there may be many thousands.
 */
export class FairQueue {
  readonly bounds: QueueBounds;
  readonly #rooms = new Map<string, Room>();
  /** By limit: those at other limits who, when they were asked last, waited for room under this one, too. */
  readonly #blockedAt = new Map<string, Set<string>>();
  /** Room that was taken for calls which have not come back for it yet. */
  readonly #granted = new Map<RunId, Settlement>();
  #size = 0;
  #turns = 0;

  constructor(bounds: QueueBounds) {
    this.bounds = bounds;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether calls wait at this limit: a new one goes behind them. */
  waitsAt(limit: string): boolean {
    return this.#size > 0 && this.#rooms.has(limit);
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
    const room: Room = this.#rooms.get(waiter.limit) ?? { limit: waiter.limit, lines: new Map(), clock: undefined };
    this.#rooms.set(waiter.limit, room);
    const line = room.lines.get(waiter.caller);
    if (line === undefined) room.lines.set(waiter.caller, { caller: waiter.caller, waiting: [waiting], turn: this.#nextTurn() });
    else line.waiting.push(waiting);
    this.#size += 1;
    // There may be room for this caller that those before it may not take.
    this.#serve([waiter.limit]);
    return { turn: promise, leave: () => this.#leave(waiting) };
  }

  #nextTurn(): number {
    this.#turns += 1;
    return this.#turns;
  }

  /** Room may have become free under these limits. */
  pump(limits: readonly string[]): void {
    if (this.#size === 0) return;
    const asked = limits.flatMap((limit) => [limit, ...(this.#blockedAt.get(limit) ?? [])]);
    for (const limit of limits) this.#blockedAt.delete(limit);
    this.#serve(asked);
  }

  /** Lets in whom there is room for, of those who wait at these limits: who has waited longest for a turn comes first. */
  #serve(limits: readonly string[]): void {
    const now = performance.now();
    const rooms = new Set(limits.flatMap((limit) => this.#rooms.get(limit) ?? []));
    for (;;) {
      let next: { room: Room; line: Line } | undefined;
      for (const room of rooms) {
        const line = this.#nextOf(room, now);
        if (line === undefined) rooms.delete(room);
        else if (next === undefined || line.turn < next.line.turn) next = { room, line };
      }
      if (next === undefined) return;
      this.#letIn(next.room, next.line);
    }
  }

  /** The first line of those who wait at a limit whose call fits. Without one they are asked again when time has made room. */
  #nextOf(room: Room, now: number): Line | undefined {
    let pauseMs = Number.POSITIVE_INFINITY;
    for (const line of room.lines.values()) {
      const [first] = line.waiting;
      const full = first?.full(now);
      const blocked = full ?? first?.blocked(now);
      if (blocked === undefined) return line;
      pauseMs = Math.min(pauseMs, blocked.waitMs ?? Number.POSITIVE_INFINITY);
      if (blocked.limit !== room.limit) this.#noteBlocked(blocked.limit, room.limit);
      if (full !== undefined) break;
    }
    this.#wind(room, pauseMs);
    return undefined;
  }

  /** Takes what the first call of a line needs. The line goes to the end. */
  #letIn({ lines }: Room, line: Line): void {
    const first = line.waiting.shift();
    lines.delete(line.caller);
    if (line.waiting.length > 0) lines.set(line.caller, line);
    line.turn = this.#nextTurn();
    if (first === undefined) return;
    this.#size -= 1;
    clearTimeout(first.timer);
    this.#granted.set(first.run, first.take());
    first.resolve();
  }

  #noteBlocked(by: string, limit: string): void {
    const known = this.#blockedAt.get(by) ?? new Set();
    known.add(limit);
    this.#blockedAt.set(by, known);
  }

  #leave(waiting: Waiting): void {
    this.granted(waiting.run)?.(DROPPED);
    this.#remove(waiting);
  }

  #remove(waiting: Waiting): void {
    const { caller, limit } = waiting;
    const room = this.#rooms.get(limit);
    const line = room?.lines.get(caller);
    const at = line?.waiting.indexOf(waiting) ?? -1;
    waiting.resolve();
    clearTimeout(waiting.timer);
    if (room === undefined || line === undefined || at === -1) return;
    line.waiting.splice(at, 1);
    if (line.waiting.length === 0) room.lines.delete(caller);
    this.#size -= 1;
    // The next one of the line may fit where this one did not.
    this.#serve([limit]);
  }

  /** Limits by the minute make room as time passes. */
  #wind(room: Room, pauseMs: number): void {
    clearTimeout(room.clock);
    if (room.lines.size === 0) this.#rooms.delete(room.limit);
    else if (Number.isFinite(pauseMs)) room.clock = setTimeout(() => this.#serve([room.limit]), Math.max(LEAST_PAUSE_MS, pauseMs)).unref();
  }
}
