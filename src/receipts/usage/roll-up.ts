import type { StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { rolledUpTo, saveRollups } from '../../store/usage/rollups.ts';
import { callsIn } from './call-usage.ts';
import { ChainFollower, type Noted } from './chain-follower.ts';
import type { SealedUsage } from './sealed-usage.ts';
import { mergeRollups, UsageSums } from './usage-sums.ts';

/** Adds the receipts of a chain to the sums of usage. */
export class RollUp extends ChainFollower<UsageSums> {
  #sealed: SealedUsage | undefined;

  /** Notes what a batch adds, for the next step. */
  note(sealed: SealedUsage): void {
    if (this.#sealed === undefined) this.#sealed = sealed;
    else this.#sealed.join(sealed);
    if (this.#sealed.isFull) this.#sealed = undefined;
  }

  protected takeNoted(): Noted<UsageSums> | undefined {
    const sealed = this.#sealed;
    this.#sealed = undefined;
    return sealed && { receipts: sealed.receipts, last: sealed.last, part: () => sealed.sums(this.store) };
  }

  protected upTo(): Promise<number> {
    return rolledUpTo(this.store, this.chain);
  }

  protected async partOf(receipts: readonly StoredReceipt[]): Promise<UsageSums> {
    const sums = new UsageSums();
    for (const call of await callsIn(this.store, receipts)) sums.add(call);
    return sums;
  }

  protected save(from: number, to: number, sums: UsageSums): Promise<void> {
    return saveRollups(this.store, { chain: this.chain, from, to, added: sums.rollups(), merge: mergeRollups });
  }
}
