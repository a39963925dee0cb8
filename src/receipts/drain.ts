import { closeSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseJsonObject } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import type { Receipt } from '../contract/receipt.ts';
import type { RunId } from '../contract/run-id.ts';
import { forgetSegment, journalPosition } from '../store/journal-positions.ts';
import { saveReceipts } from '../store/receipt-writer.ts';
import { getReceipt } from '../store/receipts.ts';
import type { Store } from '../store/store.ts';
import { closedReceipt, type Origin, runningReceipt } from './build.ts';
import { type Fact, factOf } from './facts.ts';
import { receiptOfRow, storedReceipt } from './stored.ts';

const BATCH_BYTES = 1024 * 1024;
/** A power failure may roll back the database's last moments; a drained segment stays this long. */
const KEEP_DRAINED_MS = 60_000;
const LF = 10;

/** Moves facts from journal segments into the database, in order, each batch with its position in one transaction. */
export class Drain {
  readonly #store: Store;
  readonly #folder: string;
  readonly #origin: Origin;
  #buffer = Buffer.allocUnsafe(BATCH_BYTES);
  /** Runs that have begun and not ended. */
  readonly #running = new Map<RunId, Receipt>();
  readonly #positions = new Map<string, number>();
  readonly #drainedAt = new Map<string, number>();

  constructor(store: Store, folder: string, origin: Origin) {
    this.#store = store;
    this.#folder = folder;
    this.#origin = origin;
  }

  segments(): string[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith('.jsonl'))
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
    const changed = new Map<RunId, Receipt>();
    for (const line of this.#buffer.toString('utf8', 0, end - 1).split('\n')) await this.#apply(lineFact(line, segment), changed);
    await saveReceipts(this.#store, [...changed.values()].map(storedReceipt), {
      segment,
      node: this.#origin.node,
      position: position + end,
    });
    this.#positions.set(segment, position + end);
    settled.push(...changed.keys());
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

  async #apply(fact: Fact, changed: Map<RunId, Receipt>): Promise<void> {
    if (fact.fact === 'open') {
      const receipt = runningReceipt(fact, this.#origin);
      this.#running.set(fact.run, receipt);
      changed.set(fact.run, receipt);
      return;
    }
    // The open fact may have been drained by a process that is gone; then its row has what is needed.
    const running = this.#running.get(fact.run) ?? (await this.#storedRunning(fact.run));
    this.#running.delete(fact.run);
    if (running !== undefined) changed.set(fact.run, closedReceipt(running, fact));
  }

  async #storedRunning(run: RunId): Promise<Receipt | undefined> {
    const row = await getReceipt(this.#store, run);
    return row === undefined || row.status !== 'running' ? undefined : receiptOfRow(row);
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

function lineFact(line: string, segment: string): Fact {
  const value = parseJsonObject(line);
  if (value === undefined) throw new AbpError('internal', `the journal segment ${segment} holds a damaged line`);
  return factOf(value);
}
