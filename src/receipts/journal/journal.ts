import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Redactor } from '../../base/redact.ts';
import { AbpError } from '../../contract/errors.ts';
import { factLines } from './fact-line.ts';
import { FactTexts } from './fact-texts.ts';
import type { Fact } from './facts.ts';
import { HeldFacts } from './held-facts.ts';

/** How the names of segments end. */
export const SEGMENT_SUFFIX = '.facts';

/** A segment is rotated at this size, so that drained ones can be deleted. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Room for a few facts. */
const PROBE_BYTES = 8192;

/** How the names of segments begin that a process writes which started its journal at this time. */
export function segmentPrefix(startedAt: number): string {
  return String(startedAt).padStart(14, '0');
}

/** Name of a segment: sorts by age, tells which process wrote it. */
function segmentName(startedAt: number, pid: number, number: number): string {
  return `${segmentPrefix(startedAt)}-${pid}-${String(number).padStart(6, '0')}${SEGMENT_SUFFIX}`;
}

export interface JournalOptions {
  /** When the process began to write; now, unless told. */
  readonly startedAt?: number;
  readonly onWritten?: (facts: readonly Fact[]) => void;
  /** Facts cannot be written, and why; undefined when they can be again. */
  readonly onFault?: (message: string | undefined) => void;
  /** Writes bytes at the end of a file; how many of them. */
  readonly write?: (fd: number, bytes: Buffer) => number;
  /** Removes secrets from what callers and engines chose to say; without it, those of known shapes. */
  readonly redactor?: Redactor;
}

/**
 * The hot path's memory: one `writeSync` per fact (microseconds; a database insert is fifty times that). What is written survives
 * a kill of the process; a keeper thread moves it into the database. When the disk takes no more, no run begins: an engine is never
 * called without a record. How runs under way end is held in memory until there is room again.
 */
export class Journal {
  readonly #folder: string;
  readonly #startedAt: number;
  readonly #options: JournalOptions;
  readonly #held: HeldFacts;
  readonly #texts: FactTexts;
  #gathered: Fact[] | undefined;
  #number = 0;
  #fd: number | undefined;
  #bytes = 0;

  constructor(folder: string, options: JournalOptions = {}) {
    this.#folder = folder;
    this.#startedAt = options.startedAt ?? Date.now();
    this.#options = options;
    this.#texts = new FactTexts(options.redactor);
    this.#held = new HeldFacts({
      write: (facts) => this.#write(facts),
      probe: () => this.#probe(),
      onFault: (message) => options.onFault?.(message),
    });
  }

  append(fact: Fact): void {
    if (this.#gathered === undefined) this.#store([fact]);
    else this.#gathered.push(fact);
  }

  /** From here on facts wait for `flush`, which makes one write of them. */
  gather(): void {
    this.#gathered ??= [];
  }

  /** Writes what has gathered. Throws when the beginning of a run is among it and cannot be written. */
  flush(): void {
    const gathered = this.#gathered;
    this.#gathered = undefined;
    if (gathered !== undefined && gathered.length > 0) this.#store(gathered);
  }

  /** Throws when the beginning of a run cannot be written; an end that cannot be is held. */
  #store(facts: readonly Fact[]): void {
    try {
      if (this.#held.isFaulty) this.#held.flush();
      this.#write(facts);
    } catch (error) {
      this.#held.hold(facts, error);
      if (facts.some(({ fact }) => fact === 'open')) throw unwritable(error);
    }
  }

  /** A line that did not get out whole (a full disk) ends its segment: only a last line may be torn. */
  #write(facts: readonly Fact[]): void {
    const lines = factLines(facts, this.#texts);
    const { write = writeSync, onWritten } = this.#options;
    try {
      if (write(this.#open(), lines) < lines.length) throw new Error('only a part of a line was taken; is the disk full?');
    } catch (error) {
      this.#end();
      throw error;
    }
    this.#bytes += lines.length;
    if (this.#bytes >= SEGMENT_BYTES) this.#end();
    onWritten?.(facts);
  }

  /** Throws when the disk has no room. */
  #probe(): void {
    const file = join(this.#folder, `${process.pid}.probe`);
    const fd = openSync(file, 'w', 0o600);
    try {
      const { write = writeSync } = this.#options;
      if (write(fd, Buffer.alloc(PROBE_BYTES, ' ')) < PROBE_BYTES) throw new Error('only a part was taken; is the disk full?');
    } finally {
      closeSync(fd);
      rmSync(file, { force: true });
    }
  }

  /** Goes on in another segment, so that this one is deleted once it is drained: what is removed must not live on in it. */
  rotate(): void {
    if (this.#fd === undefined) return;
    this.#end();
    this.#open();
  }

  close(): void {
    this.#held.end();
    this.#end();
  }

  #end(): void {
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

function unwritable(error: unknown): AbpError {
  const reason = error instanceof Error ? error.message : String(error);
  return new AbpError('overloaded', `The journal of this server cannot be written, and no call is made without a record: ${reason}`);
}
