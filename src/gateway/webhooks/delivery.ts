import { createHmac } from 'node:crypto';
import type { Logger } from 'pino';
import { endNotice, type Notice, nextDue, putOff, takeNotice } from '../../store/notices/notices.ts';
import type { Store } from '../../store/store.ts';
import type { Outbound } from '../../upstream/outbound.ts';
import type { WebhookConfig } from './webhook-config.ts';

/** How keys are written by the programs that make them for this scheme: base64 behind a prefix. Other secrets are taken as they stand. */
const KEY_PREFIX = 'whsec_';

/**
 * The headers that prove where a notice comes from and when it was sent, as the Standard Webhooks specification has them: libraries in most
 * languages verify them. The signature is over id, time and body, so that none can be exchanged or sent again later.
 */
function signedHeaders(id: string, body: string, secret: string | undefined, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const headers = { 'content-type': 'application/json', 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === undefined) return headers;
  const key = secret.startsWith(KEY_PREFIX) ? Buffer.from(secret.slice(KEY_PREFIX.length), 'base64') : Buffer.from(secret, 'utf8');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

/** Milliseconds before each further try; after the last one a notice is given up. */
export type Retries = readonly number[];

/** A day and a half in all: a receiver may be away over night. */
const RETRIES: Retries = [1000, 5000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000, 43_200_000, 43_200_000];
const ANSWER_MS = 10_000;
/** A process that dies with a notice in its hands leaves it to the next one after this time. */
const TAKEN_MS = 30_000;
/** Notices of nodes that are gone are found by the others. */
const LOOK_MS = 15_000;
/** While the database does not answer. */
const AWAY_MS = 5000;

export interface DeliveryOptions {
  readonly store: Store;
  readonly log: Logger;
  readonly hook: WebhookConfig;
  readonly id: string;
  readonly onTry: (outcome: 'delivered' | 'failed' | 'given_up') => void;
  readonly retries?: Retries | undefined;
}

/** Delivers the notices of one webhook, one after the other: a slow receiver keeps no other waiting. */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #retries: Retries;
  #outbound: Promise<Outbound> | undefined;
  #working: Promise<void> | undefined;
  #again = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #closing = new AbortController();

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#retries = options.retries ?? RETRIES;
  }

  /** There may be something to deliver. */
  wake(): void {
    if (this.#closing.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#again = true;
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#working;
    await (await this.#outbound)?.close();
  }

  async #work(): Promise<void> {
    const { store, id, log } = this.#options;
    let wait = LOOK_MS;
    try {
      while (this.#again && !this.#closing.signal.aborted) {
        this.#again = false;
        for (let notice = await this.#take(); notice !== undefined; notice = await this.#take()) await this.#deliver(notice);
      }
      const due = await nextDue(store, id);
      if (due !== undefined) wait = Math.min(wait, Math.max(0, due - Date.now()));
    } catch (error) {
      log.warn({ error }, 'notices to a webhook cannot be read; tried again');
      wait = AWAY_MS;
    }
    if (this.#closing.signal.aborted) return;
    this.#timer = setTimeout(() => this.wake(), wait).unref();
  }

  async #take(): Promise<Notice | undefined> {
    if (this.#closing.signal.aborted) return undefined;
    const now = Date.now();
    return await takeNotice(this.#options.store, this.#options.id, now, now + TAKEN_MS);
  }

  async #deliver(notice: Notice): Promise<void> {
    const { store, onTry, log } = this.#options;
    const fault = await this.#post(notice);
    if (fault === undefined) {
      onTry('delivered');
      await endNotice(store, notice.id, 'delivered', Date.now());
      return;
    }
    const pause = this.#retries[notice.tries - 1];
    const about = { notice: notice.id, event: notice.event, tries: notice.tries, fault };
    if (pause === undefined) {
      onTry('given_up');
      log.error(about, 'a notice to a webhook was given up');
      await endNotice(store, notice.id, 'given_up', Date.now());
      return;
    }
    onTry('failed');
    log.warn(about, 'a notice did not reach its webhook; tried again later');
    await putOff(store, notice.id, Date.now() + pause);
  }

  /** Why it did not arrive; undefined when it did. A closing server leaves what it could not finish to the next process. */
  async #post({ id, document }: Notice): Promise<string | undefined> {
    const { url, secret } = this.#options.hook;
    try {
      this.#outbound ??= openOutbound(url);
      const headers = signedHeaders(id, document, secret, Date.now());
      const request = { url, method: 'POST', headers, body: document, timeoutMs: ANSWER_MS, signal: this.#closing.signal, maxRedirects: 0 };
      const { status } = await (await this.#outbound).read(request, 0);
      return status >= 200 && status < 300 ? undefined : `it answered ${status}`;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** The address is the operator's own, so it may be a private one. */
async function openOutbound(url: string): Promise<Outbound> {
  const { Outbound } = await import('../../upstream/outbound.ts');
  return new Outbound({ allow: [new URL(url).host] });
}
