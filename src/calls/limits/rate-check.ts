import { AbpError } from '../../contract/errors.ts';
import type { Check, Verdict } from '../admission.ts';
import { type CallEnding, shareOfOwner } from '../call.ts';
import { LearnedOutput, tokensOf } from '../token-bound.ts';
import type { CallLimits } from './call-limits.ts';
import { Meter } from './meter.ts';

/** The limits of one caller, by the id of its key or `local`. */
export type LimitsOf = (caller: string) => CallLimits | undefined;

/** Callers whose use is remembered. One that has used nothing for a minute is like a new one. */
const MOST_CALLERS = 10_000;
const MINUTE_MS = 60_000;
/** A place may become free at any moment. */
const CONCURRENCY_WAIT_MS = 1000;

/** Holds each caller to its requests and tokens per minute and its calls at the same time. Refuses with the time to come back. */
export function rateCheck(limitsOf: LimitsOf): Check {
  const callers = new Callers();
  const learned = new LearnedOutput();
  return {
    name: 'limits',
    check: (call): Verdict => {
      // A run of a coding agent is held to them by each of its calls.
      if (call.way === 'run') return undefined;
      const caller = shareOfOwner(call.owner);
      const limits = limitsOf(caller);
      if (limits === undefined) return undefined;
      const use = callers.of(caller, limits);
      const wanted = limits.tokens_per_minute === undefined ? 0 : learned.bound(call);
      const refusal = use.refusal(wanted, performance.now());
      if (refusal !== undefined) return refusal;
      use.take(wanted, performance.now());
      return (ending) => {
        learned.hear(call, ending);
        use.settle(wanted, ending, performance.now());
      };
    },
  };
}

class Callers {
  readonly #uses = new Map<string, Use>();

  /** The use of a caller, kept when its limits change. */
  of(caller: string, limits: CallLimits): Use {
    const known = this.#uses.get(caller);
    if (known !== undefined && known.limits === limits) return known;
    const use = new Use(limits, known);
    if (known === undefined && this.#uses.size >= MOST_CALLERS) this.#sweep();
    this.#uses.set(caller, use);
    return use;
  }

  #sweep(): void {
    const now = performance.now();
    for (const [caller, use] of this.#uses) if (use.isIdle(now)) this.#uses.delete(caller);
  }
}

/** Calls under way are counted in one object for all limits that a caller has had, so that ends count where their beginnings did. */
interface UnderWay {
  calls: number;
  lastAt: number;
}

/** The use that one caller makes. */
class Use {
  readonly limits: CallLimits;
  readonly #underWay: UnderWay;
  readonly #requests: Meter | undefined;
  readonly #tokens: Meter | undefined;

  constructor(limits: CallLimits, before: Use | undefined) {
    const now = performance.now();
    this.limits = limits;
    this.#underWay = before === undefined ? { calls: 0, lastAt: now } : before.#underWay;
    this.#requests = meterOf(limits.requests_per_minute, before === undefined ? undefined : before.#requests, now);
    this.#tokens = meterOf(limits.tokens_per_minute, before === undefined ? undefined : before.#tokens, now);
  }

  refusal(tokens: number, now: number): AbpError | undefined {
    const { concurrency } = this.limits;
    if (concurrency !== undefined && this.#underWay.calls >= concurrency) {
      return limited({ what: 'concurrency', limit: concurrency, waitMs: CONCURRENCY_WAIT_MS });
    }
    return exceeded('requests_per_minute', this.#requests, 1, now) ?? exceeded('tokens_per_minute', this.#tokens, tokens, now);
  }

  take(tokens: number, now: number): void {
    this.#underWay.calls += 1;
    this.#underWay.lastAt = now;
    this.#requests?.use(1, now);
    this.#tokens?.use(tokens, now);
  }

  /** The reservation becomes what was used. Another check refused a call that used nothing at all. */
  settle(reserved: number, { status, usage }: CallEnding, now: number): void {
    this.#underWay.calls -= 1;
    this.#underWay.lastAt = now;
    if (status === 'refused') this.#requests?.use(-1, now);
    this.#tokens?.use((usage === null ? 0 : tokensOf(usage)) - reserved, now);
  }

  isIdle(now: number): boolean {
    return this.#underWay.calls === 0 && now - this.#underWay.lastAt > MINUTE_MS;
  }
}

/** A meter of this limit that goes on where the one before stood. */
function meterOf(limit: number | undefined, before: Meter | undefined, now: number): Meter | undefined {
  if (limit === undefined) return undefined;
  const meter = new Meter(limit);
  if (before !== undefined) meter.use(before.used(now), now);
  return meter;
}

function exceeded(what: keyof CallLimits, meter: Meter | undefined, amount: number, now: number): AbpError | undefined {
  const waitMs = meter?.waitFor(amount, now) ?? 0;
  return meter === undefined || waitMs === 0 ? undefined : limited({ what, limit: meter.limit, waitMs });
}

const WORDS: Readonly<Record<keyof CallLimits, string>> = {
  requests_per_minute: 'calls a minute',
  tokens_per_minute: 'tokens a minute',
  concurrency: 'calls at the same time',
};

function limited({ what, limit, waitMs }: { what: keyof CallLimits; limit: number; waitMs: number }): AbpError {
  return new AbpError('rate_limited', `This caller may have ${limit} ${WORDS[what]}, and this call would be more.`, {
    limit: what,
    allowed: limit,
    retry_after_s: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}
