import type { Redactor } from '../../base/redact.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { BodyShelf } from '../../store/recordings/body-shelf.ts';
import { type NewRecording, saveRecordings } from '../../store/recordings/recording-writer.ts';
import { recordedRuns } from '../../store/recordings/recordings.ts';
import type { Store } from '../../store/store.ts';
import { assemble } from './assemble.ts';
import type { Position } from './record.ts';
import { type Found, type Segment, Segments, siblingStem } from './segments.ts';

export interface BodyDrainOptions {
  readonly store: Store;
  readonly shelf: BodyShelf;
  readonly journalFolder: string;
  readonly node: string;
  readonly redactor: Redactor;
  /** Bodies cannot be stored; they stay in the journal. */
  readonly onFault: (message: string) => void;
}

/** A run that has not ended: its first segment must stay, from its last record all others are found. */
interface OpenRun {
  readonly run: RunId;
  readonly process: string;
  readonly first: number;
  /** An earlier process wrote it; it may be stored already. */
  readonly past: boolean;
  last: Position;
}

/** The most that is stored at once. */
const MOST_RUNS = 500;
const MOST_BYTES = 16 * 1024 * 1024;

/** Moves bodies from the journal into the store once their run has ended. What it knows of open runs does not grow with them. */
export class BodyDrain {
  readonly #options: BodyDrainOptions;
  readonly #segments: Segments;
  readonly #positions = new Map<string, number>();
  readonly #open = new Map<RunId, OpenRun>();
  #ended: OpenRun[] = [];
  #past = true;
  readonly #verdicts = new Map<string, boolean>();

  constructor(options: BodyDrainOptions) {
    this.#options = options;
    this.#segments = new Segments(options.journalFolder);
  }

  /** Stores what has ended by now; the names of the blocks that were written. A fault is reported and tried again at the next call. */
  async all(): Promise<string[]> {
    const blocks: string[] = [];
    try {
      await this.#store(blocks);
      const segments = this.#segments.list();
      for (const segment of segments) await this.#drain(segment, blocks);
      for (const segment of segments) this.#discard(segment);
    } catch (error) {
      this.#options.onFault(`bodies are not reaching the store: ${error instanceof Error ? error.message : String(error)}`);
    }
    return blocks;
  }

  /** Stores what an earlier process left of runs that did not end. Called once, before the first run of this one. */
  async settlePast(): Promise<void> {
    await this.all();
    for (const run of this.#open.values()) this.#ended.push(run);
    this.#open.clear();
    this.#past = false;
    await this.all();
  }

  /** Whether the run can be served again byte for byte. */
  replayable(run: string): boolean {
    return this.#verdicts.get(run) ?? false;
  }

  /** The receipts of these runs are written: nobody asks again. */
  forget(runs: readonly string[]): void {
    for (const run of runs) this.#verdicts.delete(run);
  }

  async #drain(segment: Segment, blocks: string[]): Promise<void> {
    for (;;) {
      const position = this.#positions.get(segment.stem) ?? 0;
      const { records, next } = this.#segments.read(segment, position);
      if (records.length === 0) return;
      for (const record of records) this.#index(segment, record);
      this.#positions.set(segment.stem, next);
      await this.#store(blocks);
    }
  }

  #index(segment: Segment, { header, offset }: Found): void {
    const known = this.#open.get(header.run);
    const last = { segment: segment.number, offset };
    const run = known ?? { run: header.run, process: segment.process, first: segment.number, past: this.#past, last };
    run.last = last;
    if (known === undefined) this.#open.set(header.run, run);
    if (!header.last) return;
    this.#open.delete(header.run);
    this.#ended.push(run);
  }

  /** Runs that have ended are stored while the window that held them is in memory. */
  async #store(blocks: string[]): Promise<void> {
    const { store, shelf } = this.#options;
    while (this.#ended.length > 0) {
      const known = await this.#storedAlready();
      const { recordings, taken } = this.#batch(known);
      const block = await saveRecordings(store, shelf, recordings);
      if (block !== undefined) blocks.push(block);
      for (const { recording } of recordings) this.#verdicts.set(recording.runId, recording.replayable);
      for (const [run, replayable] of known) this.#verdicts.set(`run_${run}`, replayable);
      this.#ended = this.#ended.slice(taken);
    }
  }

  #batch(known: ReadonlyMap<string, boolean>): { recordings: NewRecording[]; taken: number } {
    const recordings: NewRecording[] = [];
    let bytes = 0;
    let taken = 0;
    for (const run of this.#ended) {
      if (taken === MOST_RUNS || bytes > MOST_BYTES) break;
      taken += 1;
      const made = known.has(run.run.slice('run_'.length)) ? undefined : this.#assembled(run);
      if (made === undefined) continue;
      recordings.push(made);
      for (const body of made.bodies.values()) bytes += body.length;
    }
    return { recordings, taken };
  }

  /** After a crash the journal is read again. */
  async #storedAlready(): Promise<Map<string, boolean>> {
    const past = this.#ended.filter((run) => run.past).map(({ run }) => run);
    return past.length === 0 ? new Map() : await recordedRuns(this.#options.store, past);
  }

  #assembled(run: OpenRun): NewRecording | undefined {
    const { node, redactor, onFault } = this.#options;
    try {
      return assemble(this.#recordsOf(run), { run: run.run, node, redactor });
    } catch (error) {
      // One damaged run must not hold up the others.
      onFault(`the recording of ${run.run} is lost: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  /** Every record of a run, oldest first. */
  #recordsOf({ process, last }: OpenRun): Found[] {
    const records: Found[] = [];
    for (let at: Position | undefined = last; at !== undefined; ) {
      const found = this.#segments.at(siblingStem(process, at.segment), at.offset);
      if (found === undefined) break;
      records.push(found);
      at = found.header.previous;
    }
    return records.reverse();
  }

  /** A segment that is closed, read, and needed by no open run. */
  #discard({ stem, process, number, closed }: Segment): void {
    if (!closed) return;
    for (const run of this.#open.values()) if (run.process === process && run.first <= number) return;
    this.#segments.remove(stem);
    this.#positions.delete(stem);
  }
}
