import type { Clock } from '../base/clock.ts';
import type { FailureKind } from './exchange.ts';
import { retryAfterMs } from './retry-hints.ts';

/** Pauses where the engine asks for none, twice as long with every failure in a row. */
const FIRST_REST_MS = { limited: 5000, failing: 1000 } as const;
const MOST_REST_MS = { limited: 60_000, failing: 30_000 } as const;
/** A key that was refused does not get better by itself. */
const REFUSED_REST_MS = 60_000;
/** Statuses that say that the key is not taken, or not paid for. */
export const KEY_REFUSED: ReadonlySet<number> = new Set([401, 402, 403]);
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
}

/** The calls that one deployment of an engine has to answer, and when it wants to be left alone. */
export class Load {
  readonly #clock: Clock;
  /** Whether refusals and limits are those of our key; else they are those of the caller. */
  readonly #ownKey: boolean;
  #outstanding = 0;
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

  begin(): void {
    this.#outstanding += 1;
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

  /** It answered. */
  answered(status: number, headers: readonly string[], model: string | null): void {
    if (status < 400) this.#recover(model);
    else if (status === 429) this.#limited(headers, model);
    else if (status >= 500) this.#restAll('failing', retryAfterMs(headers, this.#clock.now()));
    else if (KEY_REFUSED.has(status) && this.#ownKey) this.#restAll('key_refused', REFUSED_REST_MS);
  }

  /** No answer came. */
  failed(kind: FailureKind): void {
    if (FAILURES.has(kind)) this.#restAll('failing', undefined);
  }

  #recover(model: string | null): void {
    this.#rest = undefined;
    if (model !== null && this.#models.size > 0) this.#models.delete(model);
  }

  #limited(headers: readonly string[], model: string | null): void {
    if (!this.#ownKey) return;
    const asked = retryAfterMs(headers, this.#clock.now());
    if (model === null) {
      this.#restAll('limited', asked);
      return;
    }
    const before = this.#models.get(model);
    this.#models.delete(model);
    this.#models.set(model, { ...this.#next('limited', asked, before), model });
    for (const oldest of this.#models.keys()) {
      if (this.#models.size <= MOST_MODELS) break;
      this.#models.delete(oldest);
    }
  }

  #restAll(reason: RestReason, asked: number | undefined): void {
    this.#rest = this.#next(reason, asked, this.#rest);
  }

  #next(reason: RestReason, asked: number | undefined, before: Resting | undefined): Resting {
    const now = this.#clock.now();
    const kind = reason === 'limited' ? 'limited' : 'failing';
    // Calls that were under way together fail together: they count once.
    if (before !== undefined && before.until > now && asked === undefined) return before;
    const count = before?.reason === reason ? before.count + 1 : 1;
    const ms = asked ?? Math.min(MOST_REST_MS[kind], FIRST_REST_MS[kind] * 2 ** (count - 1));
    return { reason, until: now + ms, model: null, count };
  }
}
