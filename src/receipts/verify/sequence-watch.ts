import type { ChainProblem } from '../../contract/receipts/chain-verification.ts';
import { GENESIS } from '../../contract/receipts/genesis.ts';

/** An entry's place, as a line claims it. */
export interface Place {
  readonly sequence: number;
  readonly hash: string;
  /** Unknown for a link. */
  readonly previous?: string | undefined;
}

/** Entries from one to another that have not been seen. */
interface Gap {
  from: number;
  to: number;
  readonly line: number;
}

/** Follows the places of entries in the order they come and says what is missing, repeated, reordered or not linked. */
export class SequenceWatch {
  #gaps: Gap[] = [];
  #first: number | undefined;
  #last: Place | undefined;

  get first(): number | undefined {
    return this.#first;
  }

  get last(): Place | undefined {
    return this.#last;
  }

  /** The next entry; what is wrong about its place. */
  take(place: Place, line: number): Omit<ChainProblem, 'run_id'> | undefined {
    const { sequence } = place;
    if (this.#last === undefined) return this.#begin(place, line);
    if (sequence <= this.#last.sequence) return this.#late(sequence, line);
    const before = this.#last;
    this.#last = place;
    if (sequence > before.sequence + 1) {
      this.#gaps.push({ from: before.sequence + 1, to: sequence - 1, line });
      return undefined;
    }
    if (place.previous === undefined || place.previous === before.hash) return undefined;
    return {
      code: 'broken_link',
      line,
      sequence,
      message: `entry ${sequence} was sealed after another entry ${before.sequence} than this`,
    };
  }

  #begin(place: Place, line: number): Omit<ChainProblem, 'run_id'> | undefined {
    this.#first = place.sequence;
    this.#last = place;
    if (place.sequence !== 1 || place.previous === undefined || place.previous === GENESIS) return undefined;
    return { code: 'broken_link', line, sequence: 1, message: 'entry 1 names an entry before it' };
  }

  #late(sequence: number, line: number): Omit<ChainProblem, 'run_id'> {
    const gap = this.#gaps.find(({ from, to }) => from <= sequence && sequence <= to);
    if (gap === undefined && sequence >= (this.#first ?? 0)) {
      return { code: 'repeated', line, sequence, message: `entry ${sequence} is there twice` };
    }
    if (gap !== undefined) this.#fill(gap, sequence);
    return { code: 'reordered', line, sequence, message: `entry ${sequence} stands after entry ${this.#last?.sequence}` };
  }

  #fill(gap: Gap, sequence: number): void {
    const parts = [
      { ...gap, to: sequence - 1 },
      { ...gap, from: sequence + 1 },
    ].filter(({ from, to }) => from <= to);
    this.#gaps.splice(this.#gaps.indexOf(gap), 1, ...parts);
  }

  /** The entries that never came. */
  missing(): ChainProblem[] {
    return this.#gaps.map(({ from, to, line }) => ({
      code: 'missing',
      line,
      sequence: from,
      message: from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`,
    }));
  }
}
