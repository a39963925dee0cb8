import { hasPassed } from '../../base/clock.ts';
import { checkpoint } from '../../store/databases/sqlite-upkeep.ts';
import { findHead } from '../../store/receipts/chain.ts';
import type { Store } from '../../store/store.ts';
import type { Chain } from './chain.ts';

const EVERY_MS = 60_000;

/** Hands out the signed head of the chain once a minute while it grows: a copy elsewhere shows when the tail of the chain is cut. */
export class HeadWatch {
  readonly #store: Store;
  readonly #chain: Chain;
  readonly #publish: (document: string) => void;
  #published: number;
  #at = Date.now();

  constructor(store: Store, chain: Chain, publish: (document: string) => void) {
    this.#store = store;
    this.#chain = chain;
    this.#publish = publish;
    this.#published = chain.stored.sequence;
  }

  /** Publishes when it is time. */
  async look(): Promise<void> {
    if (hasPassed(EVERY_MS, this.#at, Date.now())) await this.publish();
  }

  /** Publishes unless the chain is where it was. */
  async publish(): Promise<void> {
    this.#at = Date.now();
    if (this.#chain.stored.sequence === this.#published) return;
    // A head that was told to the world must survive a power failure too, or the chain would go on from before it.
    await checkpoint(this.#store);
    const head = await findHead(this.#store, this.#chain.number);
    if (head === undefined) return;
    this.#publish(head.document);
    this.#published = head.sequence;
  }
}
