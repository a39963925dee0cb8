import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { AbpError } from '../contract/errors.ts';
import { factLine } from './fact-line.ts';
import type { Fact } from './facts.ts';

/** How the names of segments end. */
export const SEGMENT_SUFFIX = '.facts';

/** A segment is rotated at this size, so that drained ones can be deleted. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

/** Name of a segment: sorts by age, tells which process wrote it. */
function segmentName(startedAt: number, pid: number, number: number): string {
  return `${String(startedAt).padStart(14, '0')}-${pid}-${String(number).padStart(6, '0')}${SEGMENT_SUFFIX}`;
}

/**
 * The hot path's memory: one `writeSync` per fact (microseconds; a database insert is fifty times that). What is written survives
 * a kill of the process; a keeper thread moves it into the database.
 */
export class Journal {
  readonly #folder: string;
  readonly #startedAt = Date.now();
  readonly #onWritten: (facts: readonly Fact[]) => void;
  #gathered: Fact[] | undefined;
  #number = 0;
  #fd: number | undefined;
  #bytes = 0;

  constructor(folder: string, onWritten: (facts: readonly Fact[]) => void = () => undefined) {
    this.#folder = folder;
    this.#onWritten = onWritten;
  }

  append(fact: Fact): void {
    if (this.#gathered === undefined) this.#store([fact]);
    else this.#gathered.push(fact);
  }

  /** What `work` appends is one write, at its end. */
  together(work: () => void): void {
    const gathered: Fact[] = [];
    this.#gathered = gathered;
    try {
      work();
    } finally {
      this.#gathered = undefined;
      if (gathered.length > 0) this.#store(gathered);
    }
  }

  #store(facts: readonly Fact[]): void {
    let lines = '';
    for (const fact of facts) lines += `${factLine(fact)}\n`;
    this.#write(lines);
    this.#bytes += lines.length;
    if (this.#bytes >= SEGMENT_BYTES) this.close();
    this.#onWritten(facts);
  }

  /** A line that did not get out whole (a full disk) ends its segment: only a last line may be torn. */
  #write(lines: string): void {
    try {
      const written = writeSync(this.#open(), lines, null, 'latin1');
      if (written < lines.length) throw new AbpError('internal', 'the journal took only a part of a line; is the disk full?');
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
