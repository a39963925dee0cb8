import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Fact } from './facts.ts';

/** A segment is rotated at this size, so that drained ones can be deleted. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

/** Name of a segment: sorts by age, tells which process wrote it. */
function segmentName(startedAt: number, pid: number, number: number): string {
  return `${String(startedAt).padStart(14, '0')}-${pid}-${String(number).padStart(6, '0')}.jsonl`;
}

/**
 * The hot path's memory: one `writeSync` per fact (microseconds; a database insert is fifty times that). What is written survives
 * a kill of the process; a keeper thread moves it into the database.
 */
export class Journal {
  readonly #folder: string;
  readonly #startedAt = Date.now();
  readonly #onAppend: () => void;
  #number = 0;
  #fd: number | undefined;
  #bytes = 0;

  constructor(folder: string, onAppend: () => void) {
    this.#folder = folder;
    this.#onAppend = onAppend;
  }

  append(fact: Fact): void {
    const line = `${JSON.stringify(fact)}\n`;
    this.#bytes += writeSync(this.#open(), line);
    if (this.#bytes >= SEGMENT_BYTES) this.close();
    this.#onAppend();
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #open(): number {
    if (this.#fd === undefined) {
      this.#number += 1;
      this.#bytes = 0;
      this.#fd = openSync(join(this.#folder, segmentName(this.#startedAt, process.pid, this.#number)), 'ax', 0o600);
    }
    return this.#fd;
  }
}
