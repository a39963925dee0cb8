import { joined, joinedInTurns } from '../../base/bounded/buffers.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Holding } from './body-budget.ts';

/** No vendor's answer in one piece is longer. */
export const LONGEST_ANSWER = 64 * 1024 * 1024;
/** An error says what went wrong in its first lines; the rest is not read. */
const READ_OF_ERROR = 256 * 1024;

/** An answer that must be whole before it can be read. */
export class Collected {
  readonly #holding: Holding;
  readonly #most: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(holding: Holding, most = LONGEST_ANSWER) {
    this.#holding = holding;
    this.#most = most;
  }

  /** Throws when the answer is too long or there is no room for it; what came before is let go. */
  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    try {
      if (this.#bytes > this.#most) throw new AbpError('engine_failed', `The engine's answer is longer than ${mebibytes(this.#most)} MiB.`);
      this.#holding.take(chunk.length);
    } catch (error) {
      this.drop();
      throw error;
    }
    this.#chunks.push(chunk);
  }

  /** The beginning of an error's body; false when all that is read of it is here. */
  addOfError(chunk: Buffer): boolean {
    if (this.#bytes < READ_OF_ERROR) this.add(chunk.subarray(0, READ_OF_ERROR - this.#bytes));
    return this.#bytes < READ_OF_ERROR;
  }

  /** All of it, in one piece; it stays counted until `drop`. */
  whole(): Buffer {
    const chunks = this.#chunks;
    this.#chunks = [];
    return joined(chunks);
  }

  /** The same for an answer of many megabytes, while others have their turn. */
  wholeInTurns(): Promise<Buffer> {
    const chunks = this.#chunks;
    this.#chunks = [];
    return joinedInTurns(chunks, this.#bytes);
  }

  get bytes(): number {
    return this.#bytes;
  }

  drop(): void {
    this.#chunks = [];
    this.#holding.release();
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
