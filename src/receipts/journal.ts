import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AbpError } from '../contract/errors.ts';
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
    const line = Buffer.from(`${JSON.stringify(fact)}\n`, 'utf8');
    this.#write(line);
    this.#bytes += line.length;
    if (this.#bytes >= SEGMENT_BYTES) this.close();
    this.#onAppend();
  }

  /** A line that did not get out whole (a full disk) ends its segment: only a last line may be torn. */
  #write(line: Buffer): void {
    try {
      const written = writeSync(this.#open(), line);
      if (written < line.length) throw new AbpError('internal', 'the journal took only a part of a line; is the disk full?');
    } catch (error) {
      this.close();
      throw error;
    }
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
