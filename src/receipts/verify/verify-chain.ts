import { canonicalJson } from '../../base/canonical-json.ts';
import type { SignedHead } from '../../contract/receipts/chain.ts';
import type { ChainProblem, ChainVerification } from '../../contract/receipts/chain-verification.ts';
import { SequenceWatch } from './sequence-watch.ts';
import { SignedHeads } from './signed-heads.ts';
import { rotationFault, TrustedKeys } from './trusted-keys.ts';
import { type Line, readLine } from './verify-line.ts';

/** A head that somebody noted elsewhere. */
export interface OutsideHead {
  readonly sequence: number;
  readonly hash: string;
  readonly node?: string | undefined;
  /** The head as it was signed; without it the caller who gives the head vouches for it. */
  readonly signed?: SignedHead;
}

export interface VerifyOptions {
  /** Public keys that are trusted, 32 bytes in hex. One is enough: rotations lead to the others. */
  readonly publicKeys: readonly string[];
  readonly head?: OutsideHead | undefined;
  /** Keys that the home of the chain holds: one of them must have signed the last head. Absent or empty: nobody here holds any. */
  readonly holds?: readonly string[] | undefined;
  /** Where the database says that the chain ends: it must agree with itself, but nobody vouches for it. */
  readonly tip?: OutsideHead | undefined;
  /** The lines are a whole chain where it is kept, and it may have no entry yet. A file that holds nothing proves nothing. */
  readonly mayBeEmpty?: boolean;
  /** The lines come from where the receipts are kept: a receipt without content must be one that some entry of the chain removed. */
  readonly isStore?: boolean;
  /** Places that removals outside of the lines name. */
  readonly removed?: readonly number[];
}

type EntryLine = Exclude<Line, { kind: 'head' }>;

/** Checks the lines of an export one after the other. It knows nothing but the lines, the keys and the head it is given. */
export class ChainVerifier {
  readonly #keys: TrustedKeys;
  readonly #heads: SignedHeads;
  readonly #outside: OutsideHead | undefined;
  readonly #tip: OutsideHead | undefined;
  readonly #holds: readonly string[];
  readonly #mayBeEmpty: boolean;
  readonly #isStore: boolean;
  readonly #problems = new ProblemList();
  readonly #places = new SequenceWatch();
  readonly #links = new Set<number>();
  readonly #removals = new Set<number>();
  readonly #notes: string[] = [];
  #node: string | null = null;
  #receipts = 0;
  #number = 0;
  /** Hashes of the entries that the outside head and the tip name. */
  readonly #compared = new Map<number, string | undefined>();

  constructor({ publicKeys, head, tip, holds = [], mayBeEmpty = false, isStore = false, removed = [] }: VerifyOptions) {
    this.#keys = new TrustedKeys(publicKeys);
    this.#heads = new SignedHeads(this.#keys, (problem) => this.#problems.add(problem));
    this.#outside = head;
    this.#tip = tip;
    this.#holds = holds;
    this.#mayBeEmpty = mayBeEmpty;
    this.#isStore = isStore;
    for (const sequence of removed) this.#removals.add(sequence);
    for (const one of [head, tip]) if (one !== undefined) this.#compared.set(one.sequence, undefined);
  }

  /** The next line, without its line break. */
  line(text: string): void {
    this.#number += 1;
    const line = readLine(text);
    if ('code' in line) this.#problem({ ...line, message: `line ${this.#number} ${line.message}` });
    else if (line.kind === 'head') this.#head(line);
    else this.#entry(line);
  }

  /** A line that cannot be read as text. */
  unreadable(message: string): void {
    this.#number += 1;
    this.#problem({ code: 'not_json', message: `line ${this.#number} ${message}` });
  }

  /** Something is wrong with the row that an entry was read from. */
  row(problem: Omit<ChainProblem, 'line'>): void {
    this.#problem(problem);
  }

  #problem(problem: Omit<ChainProblem, 'line'> & { readonly line?: number }): void {
    this.#problems.add({ line: this.#number, ...problem });
  }

  #head(line: Extract<Line, { kind: 'head' }>): void {
    this.#sameNode(line.head.node);
    this.#heads.take(line, this.#number, this.#places);
  }

  #entry(line: EntryLine): void {
    const { sequence, hash } = line.seal;
    const about = line.kind === 'receipt' ? { sequence, run_id: line.runId } : { sequence };
    const place = { sequence, hash, previous: line.kind === 'link' ? undefined : line.seal.previous };
    const misplaced = this.#places.take(place, this.#number);
    if (misplaced !== undefined) this.#problem({ ...about, ...misplaced });
    if (this.#compared.has(sequence)) this.#compared.set(sequence, hash);
    if (line.kind === 'link') this.#links.add(sequence);
    else this.#content(line, about);
  }

  #content(line: Exclude<EntryLine, { kind: 'link' }>, about: Pick<ChainProblem, 'sequence' | 'run_id'>): void {
    if (line.fault !== undefined) this.#problem({ ...about, ...line.fault, message: `entry ${about.sequence} ${line.fault.message}` });
    // A receipt names the node that its run began on. Another one may have ended the run, and then it is in the chain of that one.
    if (line.kind !== 'receipt') this.#sameNode(line.node);
    if (line.kind === 'receipt') this.#receipts += 1;
    else if (line.kind === 'removal') for (const one of line.removal.receipts) this.#removals.add(one.sequence);
    else if (line.kind === 'rotation') this.#rotation(line);
    else if (line.kind === 'gap') this.#gap(line);
    else if (line.kind === 'cut') this.#cut(line);
  }

  /** The missing entries are a problem of their own; here the node says that it noticed. */
  #cut({ cut: { at, from, to }, seal: { sequence } }: Extract<Line, { kind: 'cut' }>): void {
    this.#notes.push(`entry ${sequence}: at ${at} the node found that its entries ${from} to ${to} had been taken off the database`);
  }

  /** The node says itself that facts were lost, and where; nothing is wrong with what it did seal. */
  #gap({ gap: { segment, gaps }, seal: { sequence } }: Extract<Line, { kind: 'gap' }>): void {
    const bytes = gaps.reduce((sum, one) => sum + one.bytes, 0);
    this.#notes.push(`entry ${sequence}: ${bytes} bytes of the journal ${segment} were damaged and are in no receipt`);
  }

  #rotation({ rotation, message, seal: { sequence } }: Extract<Line, { kind: 'rotation' }>): void {
    const fault = rotationFault(rotation, message);
    if (fault !== undefined) {
      this.#problem({ code: 'bad_signature', sequence, message: `entry ${sequence} changes the key, but ${fault}` });
    } else if (rotation.signatures.old === null) {
      this.#notes.push(`entry ${sequence} replaces the lost key ${rotation.old_key.id} by ${rotation.new_key.id} without its signature`);
    } else {
      this.#keys.connect(rotation);
    }
  }

  #sameNode(node: string): void {
    this.#node ??= node;
    if (node === this.#node) return;
    this.#problem({ code: 'other_node', message: `line ${this.#number} belongs to ${node}, not to ${this.#node}` });
  }

  /** Everything has been read. */
  end(): ChainVerification {
    this.#heads.end();
    for (const problem of this.#places.missing()) this.#problem(problem);
    if (this.#isStore) this.#unrecorded();
    this.#tail();
    const { shown, count } = this.#problems;
    const removed = [...this.#links].filter((sequence) => this.#removals.has(sequence)).length;
    return {
      ok: count === 0,
      verdict: count === 0 ? this.#complete() : `${count === 1 ? 'one problem' : `${count} problems`}: ${shown[0]?.message}`,
      node: this.#node,
      receipts: this.#receipts,
      removed,
      withheld: this.#links.size - removed,
      first: this.#places.first ?? null,
      last: this.#places.last?.sequence ?? null,
      tail: this.#outside === undefined ? 'unknown' : 'known',
      keys: [...this.#heads.signers],
      notes: this.#notes,
      problems: shown,
      problem_count: count,
    };
  }

  #unrecorded(): void {
    for (const sequence of this.#links) {
      if (this.#removals.has(sequence)) continue;
      const message = `entry ${sequence} is only a stub, and no entry of the chain says that its content was removed`;
      this.#problem({ code: 'unrecorded_removal', line: 0, sequence, message });
    }
  }

  #tail(): void {
    const last = this.#places.last?.sequence ?? 0;
    const signed = this.#heads.last;
    if (last === 0 && !this.#mayBeEmpty) this.#problem({ code: 'cut', line: 0, message: 'there is no entry' });
    if (signed < last) {
      const message = `entries from ${signed + 1} on are not signed: the file ends without a head`;
      this.#problem({ code: 'cut', line: 0, sequence: signed + 1, message });
    }
    this.#signedByHome(last);
    if (this.#outside !== undefined) {
      this.#compare(this.#outside, last, 'the given head');
      if (this.#outside.signed !== undefined) this.#vouched(this.#outside.signed);
    }
    if (this.#tip !== undefined && this.#tip.sequence > 0) this.#compare(this.#tip, last, 'the record of the database');
  }

  /** The keys of a chain stand in its database; that a whole chain was made anew with another key shows at its last head. */
  #signedByHome(last: number): void {
    const { lastSigner } = this.#heads;
    if (this.#holds.length === 0 || lastSigner === undefined || this.#holds.includes(lastSigner)) return;
    const message = `the last head is signed by ${lastSigner}, which is no key of this home`;
    this.#problem({ code: 'wrong_key', line: 0, sequence: last, message });
  }

  #compare({ sequence, hash, node }: OutsideHead, last: number, whose: string): void {
    const problem = (code: ChainProblem['code'], message: string): void => this.#problem({ code, line: 0, sequence, message });
    const found = this.#compared.get(sequence);
    if (node !== undefined && this.#node !== null && node !== this.#node) {
      problem('other_node', `${whose} belongs to ${node}, not to ${this.#node}`);
    } else if (sequence > last) {
      problem('cut', `the tail is cut: ${whose} is at entry ${sequence}, the last entry here is ${last}`);
    } else if (found === undefined) {
      this.#notes.push(`entry ${sequence}, which ${whose} names, is not here and could not be compared`);
    } else if (found !== hash) {
      problem('head_mismatch', `entry ${sequence} is not the one that ${whose} names`);
    }
  }

  #vouched({ signature, ...head }: SignedHead): void {
    const verdict = this.#keys.check(head.key_id, canonicalJson(head), signature);
    if (verdict === 'good') return;
    const problem = { line: 0, sequence: head.sequence };
    if (verdict === 'bad') this.#problem({ ...problem, code: 'bad_signature', message: 'the signature of the given head is wrong' });
    else this.#problem({ ...problem, code: 'wrong_key', message: `the given head is signed by ${head.key_id}, which is not a given key` });
  }

  #complete(): string {
    const { first, last } = this.#places;
    if (last === undefined) return 'nothing is sealed here yet, tail unknown';
    const range = first === 1 ? `complete up to ${last.sequence}` : `complete from ${first} to ${last.sequence}`;
    return this.#outside === undefined ? `${range}, tail unknown` : range;
  }
}

/** More than this nobody reads. */
const MOST_SHOWN = 100;

/** Problems as they are found: all are counted, the first ones kept. */
class ProblemList {
  readonly #shown: ChainProblem[] = [];
  #count = 0;

  add(problem: ChainProblem): void {
    this.#count += 1;
    if (this.#shown.length < MOST_SHOWN) this.#shown.push(problem);
  }

  get shown(): ChainProblem[] {
    return this.#shown;
  }

  get count(): number {
    return this.#count;
  }
}
