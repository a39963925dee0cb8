import { AbpError } from '../../contract/errors.ts';
import { type Amounts, type Budget, MEASURES, type Measure, nothing } from './budget.ts';
import { type Window, windowAt } from './period.ts';

/**
 * Sums of one period: spent, and reserved by calls under way. A call settles on the page that it reserved on, also after the period has
 * ended.
 */
export class Page {
  readonly window: Window;
  readonly settled = nothing();
  readonly reserved = nothing();
  /** Something was reserved or settled since the database was last asked. */
  touched = true;
  /** Calls without a price, which a budget of dollars cannot hold. */
  unpriced = 0;
  /** Spent on other nodes, as far as the database has told. */
  readonly elsewhere = nothing();
  /** Estimates that are in neither sum any more, since the nodes of those calls told what they had really used. */
  readonly #taken = { here: nothing(), elsewhere: nothing() };
  /** The part of the budget that this node may use, where several nodes share it; what it has spent is a part of it. */
  granted: Amounts | undefined;
  /** Of all nodes this one may let a call in that may use more than is left. */
  lastCall = false;
  /** Until when the part is this node's without a word from the database. */
  trustedUntil = Number.POSITIVE_INFINITY;
  /** When this much is used, it is time to ask for more. */
  readonly renewAt = nothing();
  /** Amounts that calls asked for in vain since the node last asked for more. */
  readonly wanted = nothing();

  constructor(window: Window) {
    this.window = window;
  }

  /** On all nodes together. */
  get spent(): Amounts {
    const { settled, elsewhere } = this;
    const sum = nothing();
    for (const measure of MEASURES) sum[measure] = settled[measure] + elsewhere[measure];
    return sum;
  }

  /** Whatever is known to be spent, by this node's own count or by the database's: both miss something at times, and neither counts too much. */
  raise(told: Readonly<Amounts>, taken: Readonly<Amounts> = NOTHING): void {
    raised(this.settled, this.#taken.here, { told, taken });
  }

  /** The same for what other nodes have spent. */
  raiseElsewhere(told: Readonly<Amounts>, taken: Readonly<Amounts>): void {
    raised(this.elsewhere, this.#taken.elsewhere, { told, taken });
  }
}

const NOTHING: Readonly<Amounts> = nothing();

/** Raises a sum to what was told, and takes out of it what has turned out to be no more than an estimate. */
function raised(sum: Amounts, takenBefore: Amounts, { told, taken }: { told: Readonly<Amounts>; taken: Readonly<Amounts> }): void {
  for (const measure of MEASURES) {
    const out = Math.max(takenBefore[measure], taken[measure]);
    sum[measure] = Math.max(sum[measure] + takenBefore[measure], told[measure]) - out;
    takenBefore[measure] = out;
  }
}

/** A call does not fit, and when it might. */
export interface Shortage {
  readonly measure: Measure;
  /** The rest is not spent yet: calls under way have reserved it, or other nodes hold it. */
  readonly passing: boolean;
}

/** Shares of a budget at which its readers are told. */
const THRESHOLDS = [50, 80, 100] as const;

/** One budget as this process counts it. Every method is for the hot path: no waiting, no allocation but at the turn of a period. */
export class Account {
  #budget: Budget;
  page: Page;
  /** The page before it: a clock that is set back comes to it again. */
  #before: Page | undefined;
  /** The highest threshold that was told on this page. */
  #told = 0;

  constructor(budget: Budget, page: Page) {
    this.#budget = budget;
    this.page = page;
    this.#told = this.reached();
  }

  get budget(): Budget {
    return this.#budget;
  }

  /** Other terms: thresholds that they put out of reach are told again when they are reached. */
  holdTo(budget: Budget): void {
    // The share of a page that a node may use goes by the action that the page was opened for.
    if (budget.action !== this.#budget.action) this.#before = undefined;
    this.#budget = budget;
    this.#told = Math.min(this.#told, this.reached());
  }

  /**
   * Goes to the period that it is: the next one as a rule, an earlier one where the clock was set back. `next`: the page that was made ready for
   * it. The page before is kept, so that a clock that goes back and forth at the end of a period lets nothing be spent twice.
   */
  turn(now: number, next?: (account: Account, window: Window) => Page): void {
    const { start, end } = this.page.window;
    if (start <= now && now < end) return;
    const window = windowAt(this.budget.period, now);
    const before = this.#before;
    this.#before = this.page;
    const isBack = before?.window.start === window.start;
    this.page = isBack ? before : (next?.(this, window) ?? new Page(window));
    this.#told = isBack ? this.reached() : 0;
  }

  /**
   * Why a call does not fit; undefined where it does. A node that has the budget to itself lets a call in while anything is left, so that what is
   * spent exceeds the limit by one call's worst case at most. Of nodes that share it one may do so; the others must have been granted all that
   * the call may use.
   */
  shortage(wanted: Readonly<Amounts>, now: number): Shortage | undefined {
    const { settled, elsewhere } = this.page;
    for (const measure of MEASURES) {
      const limit = this.budget.limits[measure];
      if (limit === undefined || this.#fits(measure, limit, wanted[measure], now)) continue;
      return { measure, passing: settled[measure] + elsewhere[measure] < limit };
    }
    return undefined;
  }

  #fits(measure: Measure, limit: number, wanted: number, now: number): boolean {
    const { settled, reserved, elsewhere, granted, lastCall, trustedUntil } = this.page;
    const taken = settled[measure] + reserved[measure];
    if (taken + elsewhere[measure] >= limit) return false;
    if (granted === undefined) return true;
    if (now > trustedUntil) return false;
    return lastCall ? taken < granted[measure] : taken + wanted <= granted[measure];
  }

  /** The measure that is used up by what has been spent alone; undefined where some is left. */
  spent(): Measure | undefined {
    const { settled, elsewhere } = this.page;
    return MEASURES.find((measure) => settled[measure] + elsewhere[measure] >= (this.budget.limits[measure] ?? Number.POSITIVE_INFINITY));
  }

  /** Whether the node should ask for more of a shared budget, ahead of need. */
  isNearlyShort(): boolean {
    const { settled, reserved, granted, renewAt } = this.page;
    if (granted === undefined) return false;
    for (const measure of MEASURES) {
      if (this.budget.limits[measure] !== undefined && settled[measure] + reserved[measure] > renewAt[measure]) return true;
    }
    return false;
  }

  /** The threshold that was reached since the last time of asking; undefined where none was. */
  crossed(): number | undefined {
    const reached = this.reached();
    if (reached <= this.#told) return undefined;
    this.#told = reached;
    return reached;
  }

  /** The highest threshold that is reached; 0 where none is. */
  reached(): number {
    let share = 0;
    const { settled, elsewhere } = this.page;
    for (const measure of MEASURES) {
      const limit = this.budget.limits[measure];
      if (limit !== undefined) share = Math.max(share, (100 * (settled[measure] + elsewhere[measure])) / limit);
    }
    let reached = 0;
    for (const threshold of THRESHOLDS) if (share >= threshold) reached = threshold;
    return reached;
  }
}

const WORDS: Readonly<Record<Measure, readonly [limit: string, words: string]>> = {
  nanoUsd: ['limit_nano_usd', 'billionths of a dollar'],
  tokens: ['limit_tokens', 'tokens'],
  requests: ['limit_requests', 'calls'],
};

/** A reservation is given back when a call ends, which may be at any moment. */
const PASSING_WAIT_S = 1;
/** A budget without a period ends only when somebody raises it: a caller has no reason to ask sooner. */
const ENDLESS_WAIT_S = 3600;

/** The error for a call that does not fit. */
export function exceeded({ budget, page }: Account, { measure, passing }: Shortage, now: number): AbpError {
  const [limit, words] = WORDS[measure];
  const { settled, reserved, elsewhere, window } = page;
  const { on, period } = budget;
  const allowed = budget.limits[measure] ?? 0;
  const resetsAt = Number.isFinite(window.end) ? new Date(window.end).toISOString() : null;
  const rest = resetsAt === null ? ENDLESS_WAIT_S : Math.max(1, Math.ceil((window.end - now) / 1000));
  const what = `The budget of ${on.kind} ${on.id} ${period === 'total' ? 'in all' : `for this ${period}`}, ${allowed} ${words}, `;
  const why = passing
    ? 'may be used up by calls that are under way; try again in a moment.'
    : `is used up. ${resetsAt === null ? 'It does not begin anew by itself.' : `It begins anew at ${resetsAt}.`}`;
  return new AbpError('budget_exceeded', `${what}${why}`, {
    budget: budget.id,
    on: { [on.kind]: on.id },
    period,
    limit,
    allowed,
    spent: settled[measure] + elsewhere[measure],
    reserved: reserved[measure],
    resets_at: resetsAt,
    retry_after_s: passing ? PASSING_WAIT_S : rest,
  });
}
