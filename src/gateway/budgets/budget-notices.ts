import type { Logger } from 'pino';
import { isoTime } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Account } from '../../calls/budgets/account.ts';
import { MEASURES } from '../../calls/budgets/budget.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

const ALL = 100;

/** Tells the log, webhooks and live streams that a budget has reached a share of its limit. */
export class BudgetNotices {
  readonly #log: Logger;
  readonly #webhooks: Webhooks;
  readonly #listeners = new Set<(notice: JsonObject) => void>();

  constructor(webhooks: Webhooks, log: Logger) {
    this.#webhooks = webhooks;
    this.#log = log;
  }

  tell(account: Account, percent: number): void {
    const notice = { event: 'budget.threshold', ...membersOf(account, percent), at: isoTime(Date.now()) };
    this.#log.warn(notice, 'a budget has reached a threshold');
    for (const listener of this.#listeners) listener(notice);
    this.#deliver(account, percent);
  }

  /** Tells at the start what a killed process may have had no time to tell. Webhooks that know it already are not told again. */
  remind(accounts: Iterable<Account>): void {
    for (const account of accounts) {
      const percent = account.reached();
      if (percent > 0) this.#deliver(account, percent);
    }
  }

  listen(onNotice: (notice: JsonObject) => void): () => void {
    this.#listeners.add(onNotice);
    return () => this.#listeners.delete(onNotice);
  }

  #deliver(account: Account, percent: number): void {
    const members = membersOf(account, percent);
    const { budget, page } = account;
    // Of other limits a threshold is another occasion.
    const limits = MEASURES.map((measure) => budget.limits[measure] ?? '').join('/');
    const occasion = `${budget.id}:${page.window.start}:${limits}:${percent}`;
    this.#webhooks.tell({ event: 'budget.threshold', topic: `budget.threshold:${occasion}`, members });
    if (percent >= ALL) this.#webhooks.tell({ event: 'budget.reached', topic: `budget.reached:${occasion}`, members });
  }
}

function membersOf({ budget, page }: Account, percent: number): JsonObject {
  const { id, on, period, action, limits } = budget;
  const { nanoUsd, tokens, requests } = page.spent;
  return {
    budget: id,
    on: { [on.kind]: on.id },
    period,
    action,
    percent,
    limits: { nano_usd: limits.nanoUsd ?? null, tokens: limits.tokens ?? null, requests: limits.requests ?? null },
    spent: { nano_usd: nanoUsd, tokens, requests },
    resets_at: Number.isFinite(page.window.end) ? isoTime(page.window.end) : null,
  };
}
