import { AbpError } from '../contract/errors.ts';
import type { Route } from '../mapping/route.ts';
import type { TurnedDown } from '../upstream/gate.ts';
import type { Placement } from './balancing/placement.ts';
import type { Recorder } from './recorder.ts';

const BASE_DELAY_MS = 250;
const MOST_DELAY_MS = 5000;

/** A further try and how long to wait before it. */
export interface Attempt<P> {
  readonly plan: P;
  readonly delayMs: number;
}

/** Plans a try. */
export interface Planner<P> {
  /** Journals the try as the run's; throws, and journals nothing, where it may not be sent. */
  plan(route: Route): P;
  /** A large request is translated elsewhere before it is planned. */
  ready?(route: Route): Promise<unknown> | undefined;
  /** Knows the deployments of each engine that the call may be tried on. */
  readonly placement: Pick<Placement, 'hasOther' | 'restart'>;
}

/**
 * The tries a call has beyond the first: other deployments of the engine, then, where its route asks for it, the same engine again and its
 * fallbacks. All of them only until the first byte has gone to the caller.
 */
export class Attempts<P> {
  #rest: Route[];
  #planner: Planner<P> | undefined;
  readonly #recorder: Recorder;
  #current: Route;
  #tries = 0;
  #reason: TurnedDown | undefined;
  /** No further deployment of the engine is tried. */
  #stuck = false;

  constructor(routes: readonly Route[], planner: Planner<P>, recorder: Recorder) {
    const [first, ...rest] = routes.flatMap((route) => Array.from({ length: route.row?.attempts ?? 1 }, () => route));
    if (first === undefined) throw new RangeError('a call has at least one route');
    this.#current = first;
    this.#rest = rest;
    this.#planner = planner;
    this.#recorder = recorder;
  }

  /** Whether there is a try left, for a call that was turned down for this reason. */
  may(reason?: TurnedDown): boolean {
    const keyRefused = reason?.keyRefused === true;
    return this.#hasOther(keyRefused) || (!keyRefused && this.#rest.length > 0);
  }

  #hasOther(keyRefused: boolean): boolean {
    return !this.#stuck && this.#planner?.placement.hasOther(this.#current, keyRefused) === true;
  }

  /** Resolves when the plan of the next try can be made; undefined where nothing has to be waited for. */
  ready(): Promise<unknown> | undefined {
    const route = this.#hasOther(this.#reason?.keyRefused === true) ? this.#current : this.#rest[0];
    return route === undefined ? undefined : this.#planner?.ready?.(route);
  }

  /** The try under way failed before its first byte. */
  failed(reason: TurnedDown): void {
    this.#reason = reason;
    this.#recorder.attempted(reason.status, reason.message);
  }

  /** After a failure, the next try that may be sent, where no plan has to be waited for. */
  after(reason: TurnedDown): Attempt<P> | undefined {
    if (!this.may(reason)) return undefined;
    this.failed(reason);
    let next: Attempt<P> | undefined;
    while (next === undefined && this.may(reason)) next = this.next();
    return next;
  }

  /** The next try, whose plan is journaled as the run's. Undefined where the next place may not be called: that is noted, and the failure before stands. */
  next(): Attempt<P> | undefined {
    const elsewhere = this.#hasOther(this.#reason?.keyRefused === true);
    const route = elsewhere ? this.#current : this.#rest.shift();
    const planner = this.#planner;
    if (route === undefined || planner === undefined) return undefined;
    if (!elsewhere) this.#stuck = false;
    try {
      if (!elsewhere) planner.placement.restart();
      const plan = planner.plan(route);
      const again = route === this.#current && !elsewhere;
      if (!elsewhere) this.#tries = again ? this.#tries + 1 : 0;
      this.#current = route;
      return { plan, delayMs: again ? delayOf(this.#reason, this.#tries) : 0 };
    } catch (error) {
      if (!AbpError.is(error)) throw error;
      // The same reason speaks against all deployments of the engine.
      this.#stuck = true;
      this.#recorder.declined(route.engine.id, error);
      return undefined;
    }
  }

  /** No other try will be made: what the plans are made from is no longer held. */
  release(): void {
    this.#rest = [];
    this.#planner = undefined;
  }
}

/** The pause that the engine asks for, else twice as long each time, with a quarter of chance so that callers do not come back together. */
function delayOf(reason: TurnedDown | undefined, tries: number): number {
  const wait = reason?.retryAfterMs ?? BASE_DELAY_MS * 2 ** (tries - 1) * (1 + Math.random() / 4);
  return Math.min(MOST_DELAY_MS, wait);
}
