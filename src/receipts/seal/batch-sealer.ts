import { sha256 } from '../../base/canonical-json.ts';
import type { ChainAddition, ChainTip, StoredChain } from '../../store/receipts/chain.ts';
import type { Sealer } from '../keeper/build.ts';
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

  seal(before: string, after: string): { document: Buffer; sequence: number } {
    const sequence = this.#tip.sequence + 1;
    const written = writeUnsealed(before, `${this.#keyText}${this.#tip.hash}","sequence":${sequence}${after}`);
    const hash = sha256(written.unsealed);
    this.#tip = { sequence, hash };
    if (sequence - this.#signed === MOST_PER_HEAD) this.#sign();
    return { document: written.sealed(`"hash":"${hash}",`), sequence };
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

/** Where documents are put together. */
let scratch = Buffer.allocUnsafe(16 * 1024);

/** A document without the member that is its own hash, and with it. */
interface Written {
  readonly unsealed: Buffer;
  sealed(member: string): Buffer;
}

function writeUnsealed(before: string, after: string): Written {
  const middle = before.length;
  const end = middle + after.length;
  if (scratch.length < end) scratch = Buffer.allocUnsafe(end);
  scratch.write(before, 0, 'latin1');
  scratch.write(after, middle, 'latin1');
  return {
    unsealed: scratch.subarray(0, end),
    sealed: (member) => {
      const document = Buffer.allocUnsafe(end + member.length);
      scratch.copy(document, 0, 0, middle);
      document.write(member, middle, 'latin1');
      scratch.copy(document, middle + member.length, middle, end);
      return document;
    },
  };
}
