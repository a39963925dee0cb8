import { AbpError } from '../contract/errors.ts';
import type { Route } from '../mapping/route.ts';
import type { TurnedDown } from '../upstream/gate.ts';
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
}

/**
 * The tries a route allows beyond the first: the same engine again, then its fallbacks. Only routes that ask for it have any, and
 * only until the first byte has gone to the caller.
 */
export class Attempts<P> {
  readonly #rest: Route[];
  readonly #planner: Planner<P>;
  readonly #recorder: Recorder;
  #current: Route;
  #tries = 0;
  #reason: TurnedDown | undefined;

  constructor(routes: readonly Route[], planner: Planner<P>, recorder: Recorder) {
    const [first, ...rest] = routes.flatMap((route) => Array.from({ length: route.row?.attempts ?? 1 }, () => route));
    if (first === undefined) throw new RangeError('a call has at least one route');
    this.#current = first;
    this.#rest = rest;
    this.#planner = planner;
    this.#recorder = recorder;
  }

  get left(): number {
    return this.#rest.length;
  }

  /** Resolves when the plan of the next try can be made; undefined where nothing has to be waited for. */
  ready(): Promise<unknown> | undefined {
    const [route] = this.#rest;
    return route === undefined ? undefined : this.#planner.ready?.(route);
  }

  /** The try under way failed before its first byte. */
  failed(reason: TurnedDown): void {
    this.#reason = reason;
    this.#recorder.attempted(reason.status, reason.message);
  }

  /** After a failure, the next try that may be sent, where no plan has to be waited for. */
  after(reason: TurnedDown): Attempt<P> | undefined {
    this.failed(reason);
    let next: Attempt<P> | undefined;
    while (next === undefined && this.left > 0) next = this.next();
    return next;
  }

  /** The next try, whose plan is journaled as the run's. Undefined where the next place may not be called: that is noted, and the failure before stands. */
  next(): Attempt<P> | undefined {
    const route = this.#rest.shift();
    if (route === undefined) return undefined;
    try {
      const plan = this.#planner.plan(route);
      const again = route === this.#current;
      this.#tries = again ? this.#tries + 1 : 0;
      this.#current = route;
      return { plan, delayMs: again ? delayOf(this.#reason, this.#tries) : 0 };
    } catch (error) {
      if (!AbpError.is(error)) throw error;
      this.#recorder.declined(route.engine.id, error);
      return undefined;
    }
  }
}

/** The pause that the engine asks for, else twice as long each time, with a quarter of chance so that callers do not come back together. */
function delayOf(reason: TurnedDown | undefined, tries: number): number {
  const wait = reason?.retryAfterMs ?? BASE_DELAY_MS * 2 ** (tries - 1) * (1 + Math.random() / 4);
  return Math.min(MOST_DELAY_MS, wait);
}
