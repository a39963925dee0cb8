import { sha256 } from '../base/canonical-json.ts';
import type { ChainAddition, ChainTip, StoredChain } from '../store/chain.ts';
import type { Sealer } from './build.ts';
import { signedHead } from './head.ts';
import type { Signer } from './seal-keys.ts';

/** One signature covers at most this many entries. */
const MOST_PER_HEAD = 64;

/** Gives the receipts of one batch their places. Nothing counts until the batch is written: a failed one is simply built again. */
export class BatchSealer implements Sealer {
  readonly #chain: StoredChain;
  readonly #signer: Signer;
  readonly #keyText: string;
  readonly #heads: { sequence: number; document: string }[] = [];
  #tip: ChainTip;
  #signed: number;

  constructor(chain: StoredChain, signer: Signer) {
    this.#chain = chain;
    this.#signer = signer;
    this.#keyText = `"key_id":"${signer.keyId}","previous":"`;
    this.#tip = chain;
    this.#signed = chain.sequence;
  }

  seal(before: string, after: string): { document: string; sequence: number } {
    const sequence = this.#tip.sequence + 1;
    const rest = `${this.#keyText}${this.#tip.hash}","sequence":${sequence}${after}`;
    const hash = sha256(before + rest);
    this.#tip = { sequence, hash };
    if (sequence - this.#signed === MOST_PER_HEAD) this.#sign();
    return { document: `${before}"hash":"${hash}",${rest}`, sequence };
  }

  /** Signs what is not signed yet; undefined when nothing was sealed. */
  finish(): ChainAddition | undefined {
    if (this.#tip.sequence === this.#chain.sequence) return undefined;
    if (this.#signed < this.#tip.sequence) this.#sign();
    const { number, sequence, hash } = this.#chain;
    return { chain: number, before: { sequence, hash }, after: this.#tip, heads: this.#heads };
  }

  #sign(): void {
    const document = signedHead({ node: this.#chain.node, at: Date.now(), from: this.#signed + 1, tip: this.#tip }, this.#signer);
    this.#signed = this.#tip.sequence;
    this.#heads.push({ sequence: this.#signed, document });
  }
}
