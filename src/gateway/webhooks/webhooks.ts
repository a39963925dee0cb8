import type { Logger } from 'pino';
import { sha256 } from '../../base/canonical-json.ts';
import { isoTime } from '../../base/clock.ts';
import { uuidv7Hex } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { addNotice, countWaiting, forgetNotices } from '../../store/notices/notices.ts';
import type { Store } from '../../store/store.ts';
import { Delivery, type Retries } from './delivery.ts';
import { type WebhookConfig, type WebhookEvent, wants } from './webhook-config.ts';
import { WebhookPost } from './webhook-post.ts';

export interface WebhooksOptions {
  readonly store: Store;
  readonly hooks: readonly WebhookConfig[];
  readonly node: string;
  readonly log: Logger;
  /** Takes secrets out of a text. */
  readonly clean: (text: string) => string;
  readonly retries?: Retries;
}

/** Something that happened. There is one notice of each topic, however many nodes or restarts noticed it. */
export interface Occasion {
  readonly event: WebhookEvent;
  readonly topic: string;
  readonly members: JsonObject;
}

/** Longer than any period of a budget but `total`. */
const REMEMBERED_MS = 40 * 24 * 3_600_000;
/** While the database is away. */
const STORE_AGAIN_MS = 1000;
const MOST_UNSTORED = 10_000;
const TIDY_MS = 3_600_000;
const COUNT_MS = 5000;

/**
 * Tells webhooks what happens. A notice is stored before anybody tries to deliver it, so that it outlives the process, and is delivered by
 * loops of its own: code that tells something waits for nothing.
 */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #posts: readonly WebhookPost[];
  readonly #deliveries: readonly (readonly [WebhookConfig, Delivery])[];
  readonly #unstored: Occasion[] = [];
  #storing: Promise<void> | undefined;
  #timers: NodeJS.Timeout[] = [];
  #closed = false;
  /** Tries by how they ended. */
  readonly tries = new Map<string, number>();
  /** Notices that wait, as far as was counted a moment ago. */
  waiting = 0;

  constructor(options: WebhooksOptions) {
    this.#options = options;
    const { store, log, retries } = options;
    const onTry = (outcome: string): void => {
      this.tries.set(outcome, (this.tries.get(outcome) ?? 0) + 1);
    };
    const delivering = { store, log, receiver: 'webhook', onTry, retries } as const;
    const posts = options.hooks.map((hook) => [hook, new WebhookPost(hook)] as const);
    this.#posts = posts.map(([, post]) => post);
    this.#deliveries = posts.map(([hook, to]) => [
      hook,
      new Delivery({ ...delivering, id: hookId(hook), post: (notice, signal) => to.post(notice, signal) }),
    ]);
  }

  /** Whether anybody wants to know. */
  hears(event: WebhookEvent): boolean {
    return this.#options.hooks.some((hook) => wants(hook, event));
  }

  /** Delivers what an earlier process left, and all that comes. */
  open(): void {
    if (this.#deliveries.length === 0) return;
    for (const [, delivery] of this.#deliveries) delivery.wake();
    this.#every(TIDY_MS, () => forgetNotices(this.#options.store, Date.now() - REMEMBERED_MS));
    this.#every(COUNT_MS, async () => {
      this.waiting = await countWaiting(this.#options.store);
    });
  }

  tell(occasion: Occasion): void {
    if (this.#closed || !this.hears(occasion.event)) return;
    if (this.#unstored.length >= MOST_UNSTORED) {
      this.#options.log.error(
        { event: occasion.event, topic: occasion.topic },
        'a notice to webhooks was lost: the database has been away too long',
      );
      return;
    }
    this.#unstored.push(occasion);
    this.#storing ??= this.#store().finally(() => {
      this.#storing = undefined;
    });
  }

  /** Stores what was told. What is not delivered by now is delivered by the next process. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#storing;
    await Promise.all(this.#deliveries.map(([, delivery]) => delivery.close()));
    await Promise.all(this.#posts.map((post) => post.close()));
  }

  #every(ms: number, work: () => Promise<void>): void {
    const run = (): void => {
      work().catch((error: unknown) => this.#options.log.debug({ error }, 'notices to webhooks could not be counted'));
    };
    run();
    this.#timers.push(setInterval(run, ms).unref());
  }

  async #store(): Promise<void> {
    const { log } = this.#options;
    for (let occasion = this.#unstored[0]; occasion !== undefined; occasion = this.#unstored[0]) {
      try {
        await this.#keep(occasion);
        this.#unstored.shift();
      } catch (error) {
        if (this.#closed) {
          log.error({ error, lost: this.#unstored.length }, 'notices to webhooks could not be stored before the end of the process');
          return;
        }
        log.warn({ error }, 'a notice to webhooks could not be stored; tried again');
        await new Promise((resolve) => setTimeout(resolve, STORE_AGAIN_MS));
      }
    }
  }

  async #keep({ event, topic, members }: Occasion): Promise<void> {
    const { store, node, clean } = this.#options;
    for (const [hook, delivery] of this.#deliveries) {
      if (!wants(hook, event)) continue;
      const now = Date.now();
      const id = `notice_${uuidv7Hex(now)}`;
      const document = clean(JSON.stringify({ id, event, at: isoTime(now), node, ...members }));
      const isNew = await addNotice(store, { id, webhook: hookId(hook), event, topic, document, created_at: now });
      if (isNew) delivery.wake();
    }
  }
}

/** The address is a secret, and the same address may be named twice for different events. */
function hookId({ url, events }: WebhookConfig): string {
  return sha256(`${url}\n${[...events].sort().join()}`).slice(0, 16);
}
