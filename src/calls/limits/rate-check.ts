import { AbpError } from '../../contract/errors.ts';
import type { Check, Settlement, Verdict } from '../admission.ts';
import { type Call, type CallEnding, shareOfOwner } from '../call.ts';
import { LearnedUse, outputOf, tokensOf } from '../token-bound.ts';
import type { CallLimits } from './call-limits.ts';
import { type Blocked, FairQueue, MustWait, type QueueBounds } from './fair-queue.ts';
import { Meter } from './meter.ts';

/** Somebody or something whose use is limited. */
export interface Limited {
  /** Tells it from all others. */
  readonly id: string;
  /** How it is called in a refusal: "This caller", "The team blue". */
  readonly name: string;
  readonly limits: CallLimits;
  /** The limits as they were set, where `limits` is one node's part of them. */
  readonly whole?: CallLimits;
  readonly count?: LimitCount;
  /** Each try of a call counts, as with an engine, which gets every one of them; a caller has made one call, however often it is tried. */
  readonly everyTry?: boolean;
}

/** One node's use of a limit that several share: calls that came since the other nodes were last told, and calls at the moment. */
export interface LimitCount {
  arrived: number;
  underWay: number;
}

/** Tells of limits that change while calls wait for them. */
export type LimitChanges = (listener: (id: string, limits: CallLimits) => void) => void;

/** Whose limits a call is held to: its caller's, those of its teams, and of its engine. */
export type LimitsOf = (call: Call) => readonly Limited[];

/** Callers whose use is remembered. One that has used nothing for a minute is like a new one. */
const MOST_CALLERS = 10_000;
const MINUTE_MS = 60_000;
/** A place may become free at any moment. */
const CONCURRENCY_WAIT_MS = 1000;

/**
 * Holds callers, teams and engines to their requests and tokens per minute and their calls at the same time. A call that does not fit is refused
 * with the time to come back, or, where the operator prefers that, waits for its turn.
 */
export function rateCheck(limitsOf: LimitsOf, bounds?: QueueBounds, changes?: LimitChanges): Check {
  const queue = bounds === undefined ? undefined : new FairQueue(bounds);
  const callers = new Callers(queue !== undefined);
  const learned = new LearnedUse();
  changes?.((id, limits) => {
    callers.holdTo(id, limits);
    queue?.pump([id]);
  });
  return {
    name: 'limits',
    check: (call): Verdict => {
      // A run of a coding agent is held to them by each of its calls.
      if (call.way === 'run') return undefined;
      const granted = queue?.granted(call.runId);
      if (granted !== undefined) return granted;
      const held = limitsOf(call);
      if (held.length === 0) return undefined;
      const one = new HeldCall(call, held, callers, learned);
      const now = performance.now();
      const reached = one.reached(now, queue);
      const take = (): Settlement => {
        one.take(performance.now());
        return (ending) => {
          one.settle(ending);
          if (queue !== undefined && queue.size > 0) queue.pump(one.limits);
        };
      };
      if (reached === undefined) return take();
      if (queue === undefined || call.mayWait !== true || !mayEnter(queue, reached)) return limited(reached);
      throw new MustWait(
        queue.enter({
          ...{ run: call.runId, caller: one.caller, limit: reached.id, take },
          ...{ blocked: (later) => one.blocked(later), full: (later) => one.full(reached.id, later) },
        }),
      );
    },
  };
}

/** A call that is held to limits, with the uses that it adds to. */
class HeldCall {
  readonly caller: string;
  readonly #call: Call;
  readonly #held: readonly Limited[];
  readonly #uses: Use[] = [];
  readonly #learned: LearnedUse;
  readonly #answers: ReturnType<LearnedUse['of']>;
  /** The tokens that it may use. */
  readonly #wanted: number;

  constructor(call: Call, held: readonly Limited[], callers: Callers, learned: LearnedUse) {
    this.caller = shareOfOwner(call.owner);
    this.#call = call;
    this.#held = held;
    this.#learned = learned;
    this.#answers = learned.of(call);
    this.#wanted = (call.bound?.input ?? 0) + outputOf(call, this.#answers);
    for (const { id, limits, count } of held) {
      if (count !== undefined) count.arrived += 1;
      this.#uses.push(callers.of(id, limits));
    }
  }

  /** The first limit that it does not fit into, or that others wait at before it. */
  reached(now: number, queue: FairQueue | undefined): (Reached & { id: string }) | undefined {
    for (let at = 0; at < this.#uses.length; at += 1) {
      const [use, limited] = [this.#uses[at], this.#held[at]];
      if (use === undefined || limited === undefined) continue;
      const { id, name, whole } = limited;
      const reached = use.reached(this.caller, this.#wanted, now) ?? (queue?.waitsAt(id) === true ? use.crowded() : undefined);
      if (reached !== undefined) return { ...reached, limit: whole?.[reached.what] ?? reached.limit, id, name };
    }
    return undefined;
  }

  /** The ids of its limits. */
  get limits(): readonly string[] {
    return this.#held.map(({ id }) => id);
  }

  /** The limit that it does not fit into, of several the one that has room last. */
  blocked(now: number): Blocked | undefined {
    let last: Blocked | undefined;
    for (let at = 0; at < this.#uses.length; at += 1) {
      const reached = this.#uses[at]?.reached(this.caller, this.#wanted, now);
      if (reached === undefined) continue;
      const limit = this.#held[at]?.id ?? '';
      if (reached.what === 'concurrency') return { limit, waitMs: undefined };
      if (last === undefined || reached.waitMs > (last.waitMs ?? 0)) last = { limit, waitMs: reached.waitMs };
    }
    return last;
  }

  /** Whether one of its limits is used up, so that no call of anybody fits into it. */
  full(limit: string, now: number): Blocked | undefined {
    const reached = this.#uses[this.#held.findIndex(({ id }) => id === limit)]?.usedUp(now);
    return reached && { limit, waitMs: reached.what === 'concurrency' ? undefined : reached.waitMs };
  }

  take(now: number): void {
    for (const use of this.#uses) use.take(this.caller, this.#wanted, now);
    for (const { count } of this.#held) if (count !== undefined) count.underWay += 1;
  }

  settle(ending: CallEnding): void {
    const now = performance.now();
    this.#learned.hear(this.#call, this.#answers, ending);
    for (let at = 0; at < this.#held.length; at += 1) {
      const { count, everyTry = false } = this.#held[at] ?? {};
      const isCall = ending.status !== 'refused' && (ending.status !== 'dropped' || everyTry);
      this.#uses[at]?.settle(this.caller, { requests: isCall ? 0 : 1, tokens: this.#wanted }, ending, now);
      if (count !== undefined) count.underWay -= 1;
    }
  }
}

/** Nobody waits for what will surely not come in time, nor behind too many. */
function mayEnter({ bounds, size }: FairQueue, { waitMs }: Reached): boolean {
  return size < bounds.most && waitMs <= bounds.waitMs;
}

class Callers {
  readonly #uses = new Map<string, Use>();
  /** Whether callers wait for each other. */
  readonly #fair: boolean;

  constructor(fair: boolean) {
    this.#fair = fair;
  }

  /** The use of a caller; it goes on when the limits change. */
  of(caller: string, limits: CallLimits): Use {
    const known = this.#uses.get(caller);
    if (known !== undefined) {
      known.holdTo(limits);
      return known;
    }
    if (this.#uses.size >= MOST_CALLERS) this.#sweep();
    const use = new Use(limits, this.#fair ? new Holders() : undefined);
    this.#uses.set(caller, use);
    return use;
  }

  /** Takes other limits over, where the caller is known. */
  holdTo(caller: string, limits: CallLimits): void {
    this.#uses.get(caller)?.holdTo(limits);
  }

  #sweep(): void {
    const now = performance.now();
    for (const [caller, use] of this.#uses) if (use.isIdle(now)) this.#uses.delete(caller);
  }
}

/** The use that one caller makes. It outlives its limits, so that the end of a call counts where its beginning did. */
class Use {
  #limits: CallLimits;
  #calls = 0;
  #lastAt = performance.now();
  #requests: Meter | undefined;
  #tokens: Meter | undefined;
  /** Who has calls under way, where callers wait for each other. */
  readonly #holders: Holders | undefined;

  constructor(limits: CallLimits, holders: Holders | undefined) {
    this.#limits = limits;
    this.#holders = holders;
    this.#requests = meterOf(limits.requests_per_minute, undefined, this.#lastAt);
    this.#tokens = meterOf(limits.tokens_per_minute, undefined, this.#lastAt);
  }

  /** Takes other limits over. The same object means the same limits. */
  holdTo(limits: CallLimits): void {
    if (limits === this.#limits) return;
    const now = performance.now();
    this.#limits = limits;
    this.#requests = meterOf(limits.requests_per_minute, this.#requests, now);
    this.#tokens = meterOf(limits.tokens_per_minute, this.#tokens, now);
  }

  /** The limit that a call does not fit into. */
  reached(caller: string, tokens: number, now: number): Unnamed | undefined {
    const { concurrency } = this.#limits;
    if (concurrency !== undefined && (this.#calls >= concurrency || this.#holders?.isGreedy(caller, concurrency, now) === true)) {
      return { what: 'concurrency', limit: concurrency, left: 0, waitMs: CONCURRENCY_WAIT_MS };
    }
    return exceeded('requests_per_minute', this.#requests, 1, now) ?? exceeded('tokens_per_minute', this.#tokens, tokens, now);
  }

  /** The limit that has no room for the smallest call of anybody. */
  usedUp(now: number): Unnamed | undefined {
    const { concurrency } = this.#limits;
    if (concurrency !== undefined && this.#calls >= concurrency)
      return { what: 'concurrency', limit: concurrency, left: 0, waitMs: CONCURRENCY_WAIT_MS };
    return exceeded('requests_per_minute', this.#requests, 1, now) ?? exceeded('tokens_per_minute', this.#tokens, 1, now);
  }

  /** The limit that calls wait at, though there may be room at the moment. */
  crowded(): Unnamed {
    const what = LIMITS.find((name) => this.#limits[name] !== undefined) ?? 'concurrency';
    return { what, limit: this.#limits[what] ?? 0, left: 0, waitMs: CONCURRENCY_WAIT_MS };
  }

  take(caller: string, tokens: number, now: number): void {
    this.#calls += 1;
    this.#holders?.take(caller, now);
    this.#lastAt = now;
    this.#requests?.use(1, now);
    this.#tokens?.use(tokens, now);
  }

  /** The reservation becomes what was used. `back`: tokens that were reserved, and the request, where it turned out to be none. */
  settle(caller: string, back: { readonly requests: number; readonly tokens: number }, { usage }: CallEnding, now: number): void {
    this.#calls -= 1;
    this.#holders?.settle(caller, now);
    this.#lastAt = now;
    if (back.requests > 0) this.#requests?.use(-back.requests, now);
    this.#tokens?.use((usage === null ? 0 : tokensOf(usage)) - back.tokens, now);
  }

  isIdle(now: number): boolean {
    return this.#calls === 0 && now - this.#lastAt > MINUTE_MS;
  }
}

/** One caller's part of the places that several share, in quarters; the rest is for those who come after it. */
const MOST_QUARTERS = 3;
/** A caller that was here so lately will come again. */
const LATELY_MS = 10_000;

/** The callers that have places under a limit, or had some lately. */
class Holders {
  readonly #holders = new Map<string, { calls: number; lastAt: number }>();

  /** Whether a caller has its whole part of the places while others come, too: they then never wait for a whole call of it. */
  isGreedy(caller: string, places: number, now: number): boolean {
    const calls = this.#holders.get(caller)?.calls ?? 0;
    if (places < 2 || calls < Math.max(1, Math.floor((places * MOST_QUARTERS) / 4))) return false;
    for (const [other, { lastAt }] of this.#holders) if (other !== caller && now - lastAt < LATELY_MS) return true;
    return false;
  }

  take(caller: string, now: number): void {
    const known = this.#holders.get(caller);
    this.#holders.delete(caller);
    this.#holders.set(caller, { calls: (known?.calls ?? 0) + 1, lastAt: now });
  }

  settle(caller: string, now: number): void {
    const known = this.#holders.get(caller);
    if (known === undefined) return;
    known.calls -= 1;
    known.lastAt = now;
    for (const [oldest, { calls, lastAt }] of this.#holders) {
      if (calls > 0 || now - lastAt < LATELY_MS) break;
      this.#holders.delete(oldest);
    }
  }
}

/** A meter of this limit that goes on where the one before stood. */
function meterOf(limit: number | undefined, before: Meter | undefined, now: number): Meter | undefined {
  if (limit === undefined) return undefined;
  const meter = new Meter(limit);
  if (before !== undefined) meter.use(before.used(now), now);
  return meter;
}

function exceeded(what: keyof CallLimits, meter: Meter | undefined, amount: number, now: number): Unnamed | undefined {
  const waitMs = meter?.waitFor(amount, now) ?? 0;
  return meter === undefined || waitMs === 0 ? undefined : { what, limit: meter.limit, left: meter.left(now), waitMs };
}

const LIMITS = ['concurrency', 'requests_per_minute', 'tokens_per_minute'] as const;

const WORDS: Readonly<Record<keyof CallLimits, string>> = {
  requests_per_minute: 'calls a minute',
  tokens_per_minute: 'tokens a minute',
  concurrency: 'calls at the same time',
};

/** A limit that a call does not fit into. */
interface Reached {
  readonly name: string;
  readonly what: keyof CallLimits;
  readonly limit: number;
  /** The amount that may still be used at the moment; too little for this call. */
  readonly left: number;
  readonly waitMs: number;
}

type Unnamed = Omit<Reached, 'name'>;

function limited({ name, what, limit, left, waitMs }: Reached): AbpError {
  return new AbpError('rate_limited', `${name} may have ${limit} ${WORDS[what]}, and this call would be more.`, {
    limit: what,
    allowed: limit,
    remaining: left,
    retry_after_s: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}
