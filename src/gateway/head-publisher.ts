import type { Logger } from 'pino';
import { parseJsonObject } from '../base/json.ts';
import { Webhook } from './webhook.ts';

export interface HeadPublisherOptions {
  readonly webhook: string | undefined;
  readonly log: Logger;
}

/** Writes signed heads of the chain to the log and, where one is set, to a webhook: places that somebody who can cut the chain does not reach. */
export class HeadPublisher {
  readonly #log: Logger;
  readonly #webhook: Webhook | undefined;

  constructor({ webhook, log }: HeadPublisherOptions) {
    this.#log = log;
    // A head that is lost on the way is no harm: a later one says the same and more.
    const lost = (error: unknown): void => log.warn({ error }, 'the head of the chain did not reach receipts.head_webhook');
    this.#webhook = webhook === undefined ? undefined : new Webhook(webhook, lost);
  }

  publish(document: string): void {
    this.#log.info({ head: parseJsonObject(document) }, 'signed head of the chain of receipts');
    this.#webhook?.send(document);
  }

  /** Waits a moment for the last head to arrive. */
  async close(): Promise<void> {
    await this.#webhook?.close();
  }
}
