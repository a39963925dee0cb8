import type { ChainProblem } from '../../contract/receipts/chain-verification.ts';
import type { SequenceWatch } from './sequence-watch.ts';
import type { TrustedKeys } from './trusted-keys.ts';
import type { Line } from './verify-line.ts';

type HeadLine = Extract<Line, { kind: 'head' }>;

/** A head whose signature has not been checked, and its line. */
interface Unchecked {
  readonly line: HeadLine;
  readonly number: number;
}

/** Signatures are checked in groups of this many, so that a long file does not fill the memory. */
const GROUP = 1000;

/** Follows the heads of a chain: each must sign the entry before it and go on where the last head ended. */
export class SignedHeads {
  readonly #keys: TrustedKeys;
  readonly #report: (problem: ChainProblem) => void;
  readonly #signers = new Set<string>();
  #unchecked: Unchecked[] = [];
  #last = 0;
  #lastSigner: string | undefined;

  constructor(keys: TrustedKeys, report: (problem: ChainProblem) => void) {
    this.#keys = keys;
    this.#report = report;
  }

  /** The last entry that a head covers. */
  get last(): number {
    return this.#last;
  }

  /** The key that the last head names. */
  get lastSigner(): string | undefined {
    return this.#lastSigner;
  }

  /** Keys whose signatures were good. */
  get signers(): readonly string[] {
    return [...this.#signers];
  }

  take(line: HeadLine, number: number, places: SequenceWatch): void {
    const { sequence } = line.head;
    const wrong = mismatch(line, places);
    if (wrong !== undefined) {
      this.#report({ code: 'head_mismatch', line: number, sequence, message: `the head at entry ${sequence} ${wrong}` });
    }
    this.#continues(line, number, places.first);
    this.#last = sequence;
    this.#lastSigner = line.head.key_id;
    this.#unchecked.push({ line, number });
    if (this.#unchecked.length >= GROUP) this.#check(false);
  }

  /** A head that was left out shows in the next one, which begins later than it should. */
  #continues({ head: { sequence, from } }: HeadLine, number: number, first: number | undefined): void {
    const next = this.#last === 0 ? first : this.#last + 1;
    if (next === undefined || from === next || (this.#last === 0 && from < next)) return;
    const message = `the head at entry ${sequence} covers entries from ${from} on, where ${next} comes next`;
    this.#report({ code: 'missing_head', line: number, sequence, message });
  }

  /** No more lines: a key that nothing led to is a wrong one. */
  end(): void {
    this.#check(true);
  }

  #check(final: boolean): void {
    this.#unchecked = this.#unchecked.filter((one) => !this.#isSettled(one, final));
  }

  #isSettled({ line: { head, message }, number }: Unchecked, final: boolean): boolean {
    const { key_id: key, sequence, signature } = head;
    const verdict = this.#keys.check(key, message, signature);
    const about = { line: number, sequence };
    if (verdict === 'good') this.#signers.add(key);
    if (verdict === 'bad') {
      this.#report({ code: 'bad_signature', ...about, message: `the signature of the head at entry ${sequence} is not that of ${key}` });
    }
    if (verdict === 'unknown_key' && final) {
      this.#report({ code: 'wrong_key', ...about, message: `the head at entry ${sequence} is signed by ${key}, which is not a given key` });
    }
    return verdict !== 'unknown_key' || final;
  }
}

function mismatch({ head: { sequence, hash, count } }: HeadLine, { last }: SequenceWatch): string | undefined {
  if (last === undefined) return 'stands before any entry';
  if (sequence !== last.sequence) return `stands after entry ${last.sequence}`;
  if (hash !== last.hash) return 'signs another hash than that entry has';
  return count === sequence ? undefined : `counts ${count} entries`;
}
