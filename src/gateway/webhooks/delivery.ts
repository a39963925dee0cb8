import type { Logger } from 'pino';
import { endNotice, type Notice, nextDue, putOff, takeNotice } from '../../store/notices/notices.ts';
import type { Store } from '../../store/store.ts';

/** Milliseconds before each further try; after the last one a notice is given up. */
export type Retries = readonly number[];

/** A day and a half in all: a receiver may be away over night. */
const RETRIES: Retries = [1000, 5000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000, 43_200_000, 43_200_000];
/** A process that dies with a notice in its hands leaves it to the next one after this time. */
const TAKEN_MS = 30_000;
/** Notices of nodes that are gone are found by the others. */
const LOOK_MS = 15_000;
/** While the database does not answer. */
const AWAY_MS = 5000;

/** How one try ended; `void`: there is nothing left to tell, or nobody to tell it to. */
export type Posted = 'arrived' | 'void' | { readonly fault: string };

/** Tries by how they ended. */
type TryOutcome = 'delivered' | 'failed' | 'given_up';

export interface DeliveryOptions {
  readonly store: Store;
  readonly log: Logger;
  /** Whose notices: their column `webhook`. */
  readonly id: string;
  /** The receiver as the log names it. */
  readonly receiver: 'webhook' | 'browser';
  /** Tries once. */
  readonly post: (notice: Notice, signal: AbortSignal) => Promise<Posted>;
  readonly onTry: (outcome: TryOutcome) => void;
  readonly retries?: Retries | undefined;
  /** Milliseconds between looks for what other processes left. */
  readonly lookMs?: number;
}

/** Delivers the notices to one receiver, one after the other: a slow receiver keeps no other waiting. */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #retries: Retries;
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
  }

  async #work(): Promise<void> {
    const { store, id, log, receiver, lookMs = LOOK_MS } = this.#options;
    let wait = lookMs;
    try {
      while (this.#again && !this.#closing.signal.aborted) {
        this.#again = false;
        for (let notice = await this.#take(); notice !== undefined; notice = await this.#take()) await this.#deliver(notice);
      }
      const due = await nextDue(store, id);
      if (due !== undefined) wait = Math.min(wait, Math.max(0, due - Date.now()));
    } catch (error) {
      log.warn({ error }, `notices to a ${receiver} cannot be read; tried again`);
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
    const { store, onTry, log, receiver } = this.#options;
    const posted = await this.#post(notice);
    if (posted === 'void') return await endNotice(store, notice.id, 'void', Date.now());
    if (posted === 'arrived') {
      onTry('delivered');
      await endNotice(store, notice.id, 'delivered', Date.now());
      return;
    }
    const { fault } = posted;
    const pause = this.#retries[notice.tries - 1];
    const about = { notice: notice.id, event: notice.event, tries: notice.tries, fault };
    if (pause === undefined) {
      onTry('given_up');
      log.error(about, `a notice to a ${receiver} was given up`);
      await endNotice(store, notice.id, 'given_up', Date.now());
      return;
    }
    onTry('failed');
    log.warn(about, `a notice did not reach its ${receiver}; tried again later`);
    await putOff(store, notice.id, Date.now() + pause);
  }

  /** A closing server leaves what it could not finish to the next process. */
  async #post(notice: Notice): Promise<Posted> {
    try {
      return await this.#options.post(notice, this.#closing.signal);
    } catch (error) {
      return { fault: error instanceof Error ? error.message : String(error) };
    }
  }
}
