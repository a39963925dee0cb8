import type { Logger } from 'pino';
import type { Account } from '../../calls/budgets/account.ts';
import { Webhook } from '../webhook.ts';

/** Tells the log and, where one is set, a webhook that a budget has reached a share of its limit. */
export class ThresholdNotices {
  readonly #log: Logger;
  readonly #webhook: Webhook | undefined;

  constructor(webhook: string | undefined, log: Logger) {
    this.#log = log;
    const lost = (error: unknown): void => log.warn({ error }, 'news of a budget did not reach webhooks.budgets');
    this.#webhook = webhook === undefined ? undefined : new Webhook(webhook, lost);
  }

  tell({ budget, page }: Account, percent: number): void {
    const { id, on, period, action, limits } = budget;
    const { nanoUsd, tokens, requests } = page.spent;
    const notice = {
      event: 'budget.threshold',
      budget: id,
      on: { [on.kind]: on.id },
      period,
      action,
      percent,
      limits: { nano_usd: limits.nanoUsd ?? null, tokens: limits.tokens ?? null, requests: limits.requests ?? null },
      spent: { nano_usd: nanoUsd, tokens, requests },
      resets_at: Number.isFinite(page.window.end) ? new Date(page.window.end).toISOString() : null,
      at: new Date().toISOString(),
    };
    this.#log.warn(notice, 'a budget has reached a threshold');
    this.#webhook?.send(JSON.stringify(notice));
  }

  async close(): Promise<void> {
    await this.#webhook?.close();
  }
}
