import type { Clock } from '../base/clock.ts';
import type { FailureKind } from './exchange.ts';
import { LIMITED, retryAfterMs } from './retry-hints.ts';

/** Pauses where the engine asks for none, twice as long with every failure in a row. */
const FIRST_REST_MS = { limited: 5000, failing: 1000 } as const;
const MOST_REST_MS = { limited: 60_000, failing: 30_000 } as const;
/** A key that was refused does not get better by itself. */
const REFUSED_REST_MS = 60_000;
/** What the key may not do: use a model, or look at what belongs to somebody else, which says nothing of other calls. */
const FORBIDDEN = 403;
/** Statuses that say that the key is not taken, not paid for, or not allowed something. */
export const KEY_REFUSED: ReadonlySet<number> = new Set([401, 402, FORBIDDEN]);
const FAILURES: ReadonlySet<FailureKind> = new Set(['unreachable', 'timeout', 'broken']);
/** Limits are counted by model; no deployment is asked for more of them at a time. */
const MOST_MODELS = 256;

/** Why a deployment is left alone. */
export type RestReason = 'limited' | 'failing' | 'key_refused';

/** A pause of a deployment. */
export interface Rest {
  readonly reason: RestReason;
  readonly until: number;
  /** The model whose limit was met; null where the whole deployment rests. */
  readonly model: string | null;
}

interface Resting extends Rest {
  /** Times in a row. */
  readonly count: number;
  /** The last question that had been asked when it began. */
  readonly after: number;
}

/** What a deployment answered to a question: the pause that it asks for, where it does. */
interface Told {
  readonly question: number;
  readonly pauseMs: number | undefined;
}

/** The calls that one deployment of an engine has to answer, and when it wants to be left alone. */
export class Load {
  readonly #clock: Clock;
  /** Whether refusals and limits are those of our key; else they are those of the caller. */
  readonly #ownKey: boolean;
  #outstanding = 0;
  /** Questions so far, which have their numbers in the order in which they are asked. */
  #questions = 0;
  #rest: Resting | undefined;
  /** Rests that hold for one model alone. */
  readonly #models = new Map<string, Resting>();

  constructor(clock: Clock, { ownKey = true }: { readonly ownKey?: boolean } = {}) {
    this.#clock = clock;
    this.#ownKey = ownKey;
  }

  get outstanding(): number {
    return this.#outstanding;
  }

  /** A call begins; returns the number of its question. */
  begin(): number {
    this.#outstanding += 1;
    return this.ask();
  }

  /** A number for a question, which its answer comes with. */
  ask(): number {
    this.#questions += 1;
    return this.#questions;
  }

  end(): void {
    this.#outstanding -= 1;
  }

  /** Milliseconds until it may be asked for this model again; 0 where it may be asked now. */
  restFor(model: string | null, now: number): number {
    const whole = this.#rest === undefined ? 0 : this.#rest.until - now;
    const own = this.#models.size === 0 || model === null ? 0 : (this.#models.get(model)?.until ?? 0) - now;
    return Math.max(0, whole, own);
  }

  /** Every pause that is not over. */
  rests(now: number): Rest[] {
    return [...(this.#rest === undefined ? [] : [this.#rest]), ...this.#models.values()]
      .filter(({ until }) => until > now)
      .map(({ reason, until, model }) => ({ reason, until, model }));
  }

  /** It answered a question; a new one, unless its number is told. */
  answered(status: number, headers: readonly string[], model: string | null, question = this.ask()): void {
    if (status < 400) {
      this.#recover(model, question);
      return;
    }
    const told = { question, pauseMs: retryAfterMs(status, headers, this.#clock.now()) };
    if (status === LIMITED) this.#limited(told, model);
    else if (status >= 500) this.#restAll('failing', told);
    else if (status === FORBIDDEN) this.#forbidden(question, model);
    else if (KEY_REFUSED.has(status)) this.refused(question);
  }

  /** It does not take our key, whatever it is asked. */
  refused(question = this.ask()): void {
    if (this.#ownKey) this.#restAll('key_refused', { question, pauseMs: REFUSED_REST_MS });
  }

  /** No answer came. */
  failed(kind: FailureKind, question = this.ask()): void {
    if (FAILURES.has(kind)) this.#restAll('failing', { question, pauseMs: undefined });
  }

  /** A good answer ends the rests that had begun when its question was asked. Of later ones it says nothing. */
  #recover(model: string | null, question: number): void {
    if (this.#rest !== undefined && question > this.#rest.after) this.#rest = undefined;
    if (model === null || this.#models.size === 0) return;
    if (question > (this.#models.get(model)?.after ?? question)) this.#models.delete(model);
  }

  #limited(told: Told, model: string | null): void {
    if (!this.#ownKey) return;
    if (model === null) this.#restAll('limited', told);
    else this.#restModel('limited', told, model);
  }

  /** The key may perhaps not use this model; a caller who asks for what is somebody else's must not take it away from the others. */
  #forbidden(question: number, model: string | null): void {
    if (this.#ownKey && model !== null) this.#restModel('key_refused', { question, pauseMs: undefined }, model);
  }

  #restModel(reason: RestReason, told: Told, model: string): void {
    const before = this.#models.get(model);
    this.#models.delete(model);
    this.#models.set(model, { ...this.#next(reason, told, before), model });
    for (const oldest of this.#models.keys()) {
      if (this.#models.size <= MOST_MODELS) break;
      this.#models.delete(oldest);
    }
  }

  #restAll(reason: RestReason, told: Told): void {
    this.#rest = this.#next(reason, told, this.#rest);
  }

  #next(reason: RestReason, { question, pauseMs }: Told, before: Resting | undefined): Resting {
    const now = this.#clock.now();
    const kind = reason === 'limited' ? 'limited' : 'failing';
    // Calls that were under way together fail together: they count once, and the longest pause that one of them is told holds.
    const together = before !== undefined && question <= before.after;
    const count = before?.reason === reason ? before.count + (together ? 0 : 1) : 1;
    const until = now + (pauseMs ?? Math.min(MOST_REST_MS[kind], FIRST_REST_MS[kind] * 2 ** (count - 1)));
    if (before !== undefined && before.until > now && (pauseMs === undefined || (together && before.until >= until))) return before;
    return { reason, until, model: null, count, after: this.#questions };
  }
}
