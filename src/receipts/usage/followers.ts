import type { Store } from '../../store/store.ts';
import { MarkUp } from './mark-up.ts';
import { RollUp } from './roll-up.ts';
import type { SealedUsage } from './sealed-usage.ts';

/** Those who follow the receipts of a chain: sums of usage, and marks that lists find receipts by. */
export class Followers {
  readonly #usage: RollUp;
  readonly #marks: MarkUp;

  constructor(store: Store, chain: number) {
    this.#usage = new RollUp(store, chain);
    this.#marks = new MarkUp(store, chain);
  }

  note(sealed: SealedUsage): void {
    this.#marks.note(sealed);
    this.#usage.note(sealed);
  }

  /** Writes down everything that is sealed, so that nothing of a receipt waits in memory while the receipt is removed. */
  async catchUp(): Promise<void> {
    await this.#usage.catchUp();
    await this.#marks.catchUp();
  }

  async look(): Promise<void> {
    await this.#usage.look();
    await this.#marks.look();
  }
}
