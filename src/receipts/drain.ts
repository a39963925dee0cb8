import { closeSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RunId } from '../contract/run-id.ts';
import { forgetSegment, journalPosition } from '../store/journal-positions.ts';
import type { NewReceipt } from '../store/receipt-columns.ts';
import { saveReceipts } from '../store/receipt-writer.ts';
import { getReceipt } from '../store/receipts.ts';
import type { Store } from '../store/store.ts';
import type { Origin } from './build.ts';
import { isOpening, parseClosing, parseOpening, runOfLine } from './fact-line.ts';
import { SEGMENT_SUFFIX } from './journal.ts';
import { closedRow, type Opening, openingOf, runningRow } from './stored.ts';

const BATCH_BYTES = 256 * 1024;
/** A power failure may roll back the database's last moments; a drained segment stays this long. */
const KEEP_DRAINED_MS = 60_000;
const LF = 10;

/** Lines of one segment, what is known of runs that end in them, and where the runs that were written are noted. */
interface Batch {
  readonly lines: readonly string[];
  readonly segment: string;
  readonly recalled: ReadonlyMap<string, Opening>;
  readonly written: RunId[];
}

/** Moves facts from journal segments into the database, in order, each batch with its position in one transaction. */
export class Drain {
  readonly #store: Store;
  readonly #folder: string;
  readonly #origin: Origin;
  #buffer = Buffer.allocUnsafe(BATCH_BYTES);
  /** Lines of runs that began in an earlier batch and have not ended. */
  readonly #running = new Map<string, string>();
  readonly #positions = new Map<string, number>();
  readonly #drainedAt = new Map<string, number>();

  constructor(store: Store, folder: string, origin: Origin) {
    this.#store = store;
    this.#folder = folder;
    this.#origin = origin;
  }

  segments(): string[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(SEGMENT_SUFFIX))
      .sort();
  }

  /** Drains what is there now; the runs whose receipts were written. */
  async all(): Promise<RunId[]> {
    const settled: RunId[] = [];
    const names = this.segments();
    for (const name of names) {
      // What is appended meanwhile waits for the next drain: batches of what arrives during a batch would be tiny and dear.
      for (let more = true; more; ) more = await this.#batch(name, settled);
      if (name !== names.at(-1)) await this.#discard(name);
    }
    return settled;
  }

  async #position(segment: string): Promise<number> {
    const known = this.#positions.get(segment) ?? (await journalPosition(this.#store, segment));
    this.#positions.set(segment, known);
    return known;
  }

  /** One batch of whole lines; whether the segment had more when it was read. */
  async #batch(segment: string, settled: RunId[]): Promise<boolean> {
    const position = await this.#position(segment);
    const { end, more } = this.#readLines(segment, position);
    if (end === 0) return false;
    const lines = this.#buffer.toString('latin1', 0, end - 1).split('\n');
    const written: RunId[] = [];
    const rows = this.#rows({ lines, segment, recalled: await this.#recall(lines), written });
    await saveReceipts(this.#store, rows, { segment, node: this.#origin.node, position: position + end });
    this.#positions.set(segment, position + end);
    for (const run of written) settled.push(run);
    return more;
  }

  /** Fills the buffer from `position`; how many of its bytes are whole lines. A line longer than the buffer gets a larger one. */
  #readLines(segment: string, position: number): { end: number; more: boolean } {
    for (;;) {
      const read = readAt(join(this.#folder, segment), this.#buffer, position);
      const end = read === 0 ? 0 : this.#buffer.lastIndexOf(LF, read - 1) + 1;
      const more = read === this.#buffer.length;
      if (end > 0 || !more) return { end, more };
      this.#buffer = Buffer.allocUnsafe(this.#buffer.length * 2);
    }
  }

  /** Beginnings that an earlier process drained, of runs that end in these lines: their rows have what is needed. */
  async #recall(lines: readonly string[]): Promise<ReadonlyMap<string, Opening>> {
    const recalled = new Map<string, Opening>();
    const begun = new Set<string>();
    for (const line of lines) {
      const run = runOfLine(line);
      if (isOpening(line)) begun.add(run);
      else if (!begun.has(run) && !this.#running.has(run)) {
        const stored = await getReceipt(this.#store, run as RunId); // written by the journal from a RunId
        if (stored?.status === 'running') recalled.set(run, openingOf(stored));
      }
    }
    return recalled;
  }

  /**
   * What the lines make of their runs. A run that begins and ends in one batch is one row; only what outlives it is written as running.
   * Rows are made one by one as they are written: a batch of them would be copied about by the garbage collector.
   */
  *#rows({ lines, segment, recalled, written }: Batch): Generator<NewReceipt> {
    const begun = new Map<string, string>();
    for (const line of lines) {
      if (isOpening(line)) {
        begun.set(runOfLine(line), line);
        continue;
      }
      const close = parseClosing(line, segment);
      const opening = this.#takeOpening(close.run, begun, segment) ?? recalled.get(close.run);
      if (opening === undefined) continue;
      const row = closedRow(opening.open, close, opening.origin);
      written.push(row.runId);
      yield row;
    }
    for (const [run, line] of begun) {
      this.#running.set(run, copyOf(line));
      const row = runningRow(parseOpening(line, segment), this.#origin);
      written.push(row.runId);
      yield row;
    }
  }

  /** A run ends once: its beginning is forgotten. */
  #takeOpening(run: string, begun: Map<string, string>, segment: string): Opening | undefined {
    const line = begun.get(run) ?? this.#running.get(run);
    if (line === undefined) return undefined;
    begun.delete(run);
    this.#running.delete(run);
    return { open: parseOpening(line, segment), origin: this.#origin };
  }

  async #discard(segment: string): Promise<void> {
    const since = this.#drainedAt.get(segment);
    if (since === undefined) {
      this.#drainedAt.set(segment, Date.now());
      return;
    }
    if (Date.now() - since < KEEP_DRAINED_MS) return;
    rmSync(join(this.#folder, segment), { force: true });
    this.#drainedAt.delete(segment);
    this.#positions.delete(segment);
    await forgetSegment(this.#store, segment);
  }
}

function readAt(file: string, buffer: Buffer, position: number): number {
  const fd = openSync(file, 'r');
  try {
    return readSync(fd, buffer, 0, buffer.length, position);
  } finally {
    closeSync(fd);
  }
}

/** A copy that stands alone: a part of a string keeps the whole string alive, here a whole batch. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
