import type { Logger } from 'pino';
import { parseJsonObject } from '../base/json.ts';
import type { Outbound } from '../upstream/outbound.ts';

export interface HeadPublisherOptions {
  readonly webhook: string | undefined;
  readonly log: Logger;
}

/** A head that is lost on the way is no harm: a later one says the same and more. */
const TRIES = 3;
const BETWEEN_MS = 1000;
const ANSWER_MS = 10_000;
/** At the end of the process there is no later one, but nobody waits for ever. */
const LAST_MS = 5000;

/** Writes signed heads of the chain to the log and, where one is set, to a webhook: places that somebody who can cut the chain does not reach. */
export class HeadPublisher {
  readonly #options: HeadPublisherOptions;
  #outbound: Promise<Outbound> | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: HeadPublisherOptions) {
    this.#options = options;
  }

  publish(document: string): void {
    const { webhook, log } = this.#options;
    log.info({ head: parseJsonObject(document) }, 'signed head of the chain of receipts');
    if (webhook === undefined) return;
    this.#outbound ??= openOutbound(webhook);
    this.#sending = this.#outbound
      .then((client) => post(client, webhook, document))
      .catch((error: unknown) => log.warn({ error }, 'the head of the chain did not reach receipts.head_webhook'));
  }

  /** Waits a moment for the last head to arrive. */
  async close(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, LAST_MS);
    await Promise.race([this.#sending, late.promise]);
    clearTimeout(timer);
    await (await this.#outbound)?.close();
  }
}

/** The address is the operator's own, so it may be a private one. */
async function openOutbound(webhook: string): Promise<Outbound> {
  const { Outbound } = await import('../upstream/outbound.ts');
  return new Outbound({ allow: [new URL(webhook).host] });
}

async function post(client: Outbound, url: string, document: string): Promise<void> {
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body: document, timeoutMs: ANSWER_MS };
  for (let left = TRIES - 1; ; left -= 1) {
    try {
      const { status } = await client.read(request, 0);
      if (status < 300) return;
      throw new Error(`it answered ${status}`);
    } catch (error) {
      if (left === 0) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
  }
}
