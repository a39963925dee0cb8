import { closeSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AbpError } from '../../contract/errors.ts';
import { type RunId, writtenRunId } from '../../contract/run-id.ts';
import { forgetSegment, journalPosition } from '../../store/receipts/journal-positions.ts';
import type { NewReceipt, StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { getReceipt } from '../../store/receipts/receipts.ts';
import type { Store } from '../../store/store.ts';
import type { BodyKeeper } from '../bodies/keeper.ts';
import { hasPrices, isOpening, parseClosing, parseOpening, runOfLine } from '../journal/fact-line.ts';
import { SEGMENT_SUFFIX, segmentPrefix } from '../journal/journal.ts';
import { sift } from '../journal/sift.ts';
import { type CloseTexts, copyOf, type OpenTexts } from '../journal/texts.ts';
import type { Chain } from '../seal/chain.ts';
import { SealedUsage, type Spent } from '../usage/sealed-usage.ts';
import { type Sealer, upstreamModel } from './build.ts';
import type { Origin } from './document.ts';
import { keepGaps } from './gaps.ts';
import { isClosedElsewhere, keepLateEnds, type LateEnding } from './late-ends.ts';
import { loadPricer, type Pricer } from './pricing.ts';
import { closedRow, type Opening, openingOf, runningRow } from './stored.ts';

const BATCH_BYTES = 256 * 1024;
/** A power failure may roll back the database's last moments; a drained segment stays this long. */
const KEEP_DRAINED_MS = 60_000;
const LF = 10;

/** Lines of one segment, what the database knows of runs that end in them, and where the runs that were written, and their usage, are noted. */
interface Batch {
  readonly lines: readonly string[];
  readonly segment: string;
  readonly recalled: ReadonlyMap<string, StoredReceipt>;
  readonly sealer: Sealer;
  readonly written: RunId[];
  readonly usage: SealedUsage;
}

export interface DrainOptions {
  readonly store: Store;
  readonly folder: string;
  readonly origin: Origin;
  readonly chain: Chain;
  /** Knows which runs can be replayed. */
  readonly bodies?: Pick<BodyKeeper, 'settle' | 'replayable' | 'forget'>;
  /** When this process began its journal. Segments from before are not written to any more, so that their last line is what it is. */
  readonly journalSince?: number | undefined;
  /** Parts of a segment could not be read, and are named in the chain. */
  readonly onDamage?: (segment: string, bytes: number) => void;
  /** A batch was written: what its receipts add to usage. */
  readonly onSealed?: (usage: SealedUsage) => void;
  /** A batch was written: the runs whose receipts are in it, and what their calls cost. */
  readonly onSettled?: (runs: readonly RunId[], spent: readonly Spent[]) => void;
}

/** Moves facts from journal segments into the database, in order, each batch with its position in one transaction. */
export class Drain {
  readonly #store: Store;
  readonly #folder: string;
  readonly #origin: Origin;
  readonly #chain: Chain;
  readonly #bodies: DrainOptions['bodies'];
  readonly #onSettled: DrainOptions['onSettled'];
  readonly #onDamage: DrainOptions['onDamage'];
  readonly #onSealed: DrainOptions['onSealed'];
  readonly #ownSegments: string;
  #pricer: Pricer | undefined;
  /** The database knew better than we did: the batch is made again, and asks it about every run that ends. */
  #doubtful = false;
  #buffer = Buffer.allocUnsafe(BATCH_BYTES);
  /** Lines of runs that began in an earlier batch and have not ended. */
  readonly #running = new Map<string, string>();
  readonly #positions = new Map<string, number>();
  readonly #drainedAt = new Map<string, number>();

  constructor({ store, folder, origin, chain, bodies, journalSince, onSealed, onSettled, onDamage }: DrainOptions) {
    this.#store = store;
    this.#folder = folder;
    this.#origin = origin;
    this.#chain = chain;
    this.#bodies = bodies;
    this.#onSettled = onSettled;
    this.#onDamage = onDamage;
    this.#onSealed = onSealed;
    this.#ownSegments = segmentPrefix(journalSince ?? 0);
  }

  segments(): string[] {
    return segmentsIn(this.#folder);
  }

  /** Drains what is there now; the runs whose receipts were written. */
  async all(): Promise<RunId[]> {
    const settled: RunId[] = [];
    const names = this.segments();
    for (const name of names) {
      // Lines that are appended meanwhile wait for the next drain: batches of what arrives during a batch would be tiny and dear.
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

  /** One batch of whole lines; whether there is another one to be made of the segment. */
  async #batch(segment: string, settled: RunId[]): Promise<boolean> {
    const position = await this.#position(segment);
    const { end, more } = this.#readLines(segment, position);
    if (end === 0) return false;
    const { lines, damage } = sift(this.#buffer.subarray(0, end), position);
    if (this.#pricer === undefined && lines.some(hasPrices)) this.#pricer = await loadPricer();
    // After the lines were read: the bodies of every run that ends in them are in their journal by now.
    await this.#bodies?.settle();
    const written: RunId[] = [];
    const usage = new SealedUsage();
    const recalled = await this.#recall(lines);
    const mark = { segment, node: this.#origin.node, position: position + end };
    try {
      // Before the position moves on: what is known of these runs, and of what is damaged, is nowhere else.
      await keepGaps(this.#store, this.#chain, { folder: this.#folder, segment, damage });
      const late = await keepLateEnds(this.#store, this.#chain, this.#lateEnds(lines, segment, recalled));
      if (late.length > 0) this.#onSettled?.([], late);
      await this.#chain.save(this.#store, mark, (sealer) => this.#rows({ lines, segment, recalled, sealer, written, usage }));
      this.#doubtful = false;
    } catch (error) {
      // A write that failed may have arrived all the same.
      this.#positions.delete(segment);
      const isNews = !this.#doubtful;
      this.#doubtful = AbpError.is(error) && error.code === 'conflict';
      if (this.#doubtful && isNews) return true;
      throw error;
    }
    this.#positions.set(segment, position + end);
    for (const { text } of damage) this.#onDamage?.(segment, text.length);
    for (const run of written) settled.push(run);
    if (usage.receipts > 0) this.#onSealed?.(usage);
    // With each batch: a caller who waits for a receipt must not wait for the backlog behind it.
    if (written.length > 0) this.#onSettled?.(written, usage.spent);
    // Only of those that ended: the end of another may be known from its bodies already.
    this.#bodies?.forget(lines.filter((line) => !isOpening(line)).map(runOfLine));
    return more;
  }

  /**
   * Fills the buffer from `position`; how many of its bytes are whole lines. A line longer than the buffer gets a larger one. A last line
   * without a line break is left until it has one, unless nobody writes to the segment any more.
   */
  #readLines(segment: string, position: number): { end: number; more: boolean } {
    for (;;) {
      const read = readAt(join(this.#folder, segment), this.#buffer, position);
      const end = read === 0 ? 0 : this.#buffer.lastIndexOf(LF, read - 1) + 1;
      const more = read === this.#buffer.length;
      if (end > 0 || !more) return { end: more || segment >= this.#ownSegments ? end : read, more };
      this.#buffer = Buffer.allocUnsafe(this.#buffer.length * 2);
    }
  }

  /** Beginnings that an earlier process drained, of runs that end in these lines: their rows have what is needed. */
  async #recall(lines: readonly string[]): Promise<Batch['recalled']> {
    const recalled = new Map<string, StoredReceipt>();
    const begun = new Set<string>();
    for (const line of lines) {
      const run = runOfLine(line);
      if (isOpening(line)) begun.add(run);
      else if (this.#doubtful || (!begun.has(run) && !this.#running.has(run))) {
        const stored = await getReceipt(this.#store, writtenRunId(run));
        if (stored !== undefined) recalled.set(run, stored);
      }
    }
    return recalled;
  }

  /** Ends of runs that another node has closed in the meantime. */
  #lateEnds(lines: readonly string[], segment: string, recalled: Batch['recalled']): LateEnding[] {
    const late = new Map<string, LateEnding>();
    for (const line of recalled.size === 0 ? [] : lines) {
      const stored = isOpening(line) ? undefined : recalled.get(runOfLine(line));
      if (stored === undefined || late.has(stored.runId) || !isClosedElsewhere(stored, this.#chain.number)) continue;
      const opening = openingOf(stored);
      late.set(stored.runId, { stored, opening, close: this.#told(opening.open, parseClosing(line, segment)) });
    }
    return [...late.values()];
  }

  /**
   * Makes rows of the lines. A run that begins and ends in one batch is one row; only what outlives it is written as running.
   * Rows are made one by one as they are written: a batch of them would be copied about by the garbage collector.
   */
  *#rows({ lines, segment, recalled, sealer, written, usage }: Batch): Generator<NewReceipt> {
    const begun = new Map<string, string>();
    const ended = new Set<string>();
    for (const line of lines) {
      if (isOpening(line)) {
        begun.set(runOfLine(line), line);
        continue;
      }
      const close = parseClosing(line, segment);
      const run = close.get('run');
      if (ended.has(run)) {
        // Two have ended it, as happens to a turn; the first one counts.
        begun.delete(run);
        continue;
      }
      const stored = recalled.get(run);
      const taken = this.#takeOpening(run, begun, segment);
      // A run ends once. Callers who wait for its receipt are told all the same.
      if (stored !== undefined && stored.completedAt !== null) {
        written.push(stored.runId);
        continue;
      }
      const opening = taken ?? (stored === undefined ? undefined : this.#recalledOpening(stored));
      if (opening === undefined) continue;
      const { open, origin } = opening;
      ended.add(run);
      const told = this.#told(open, close);
      const row = closedRow({ open, close: told, origin, sealer }, this.#chain.number);
      written.push(row.runId);
      usage.add(row, open, told);
      yield row;
    }
    for (const [run, line] of begun) {
      this.#running.set(run, copyOf(line));
      const row = runningRow(parseOpening(line, segment), this.#origin);
      written.push(row.runId);
      yield row;
    }
  }

  /** The end with all that is known of it. */
  #told(open: OpenTexts, close: CloseTexts): CloseTexts {
    return this.#judged(this.#priced(open, close));
  }

  /** The cost of the run, where nobody has told it yet. */
  #priced(open: OpenTexts, close: CloseTexts): CloseTexts {
    if (this.#pricer === undefined || close.get('prices') === 'null' || close.get('cost') !== 'null' || close.get('usage') === 'null')
      return close;
    return close.with({ cost: this.#pricer(close, upstreamModel(open, close)) });
  }

  /** Whether the run can be replayed is known once its bodies are stored. */
  #judged(close: CloseTexts): CloseTexts {
    return this.#bodies?.replayable(close.get('run')) === true ? close.with({ replayable: 'true' }) : close;
  }

  /** A turn may have begun on another node; the one that ends it vouches for its receipt, in its own chain. */
  #recalledOpening(stored: StoredReceipt): Opening {
    const { open, origin } = openingOf(stored);
    return { open, origin: origin.node === this.#origin.node ? origin : this.#origin };
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

function segmentsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(SEGMENT_SUFFIX))
    .sort();
}

/** Deletes the segments of which nothing is left to drain. For a home that no server serves, once the database is on the disk. */
export async function discardDrained(store: Store, folder: string): Promise<void> {
  for (const segment of segmentsIn(folder)) {
    const file = join(folder, segment);
    if ((await journalPosition(store, segment)) < statSync(file).size) continue;
    rmSync(file, { force: true });
    await forgetSegment(store, segment);
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
