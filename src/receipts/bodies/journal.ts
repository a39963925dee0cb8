import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync, writevSync } from 'node:fs';
import { join } from 'node:path';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import { BodiesAside } from './bodies-aside.ts';
import { encodeRecord, type NewRecord, type Position } from './record.ts';
import { Tape } from './tape.ts';

/** A segment that is still written to, and one that is not. */
export const OPEN_SUFFIX = '.bodies-open';
export const CLOSED_SUFFIX = '.bodies';
/** Bodies of runs that have not begun. */
const ASIDE_SUFFIX = '.bodies-aside';

/** A segment is closed at this size, so that drained ones can be deleted. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** A segment that nobody writes to is closed too: what was erased must not live on in it. */
const IDLE_MS = 10_000;
/** Bodies wait for the disk this long at most, so that after a kill all but the last second is there. */
const FLUSH_MS = 1000;
const TICK_MS = 250;
/** More than this on its way to the store means that the store does not take it; then nothing more is recorded until it does. */
const MOST_WAITING = 1024 * 1024 * 1024;
const LOOK_AGAIN_MS = 5000;

export interface BodyJournalOptions {
  readonly folder: string;
  /** Bodies cannot be kept: a fault to log. The calls go on. */
  readonly onFault: (message: string) => void;
  readonly mostWaiting?: number;
}

/**
 * The hot path's memory for bodies: what runs have to say is appended to a file, many records in one write. A thread moves it into
 * the store. Unlike facts, bodies may be lost without harm to a call: a full disk stops recording, not serving.
 */
export class BodyJournal {
  readonly #options: BodyJournalOptions;
  readonly #prefix = `${String(Date.now()).padStart(14, '0')}-${process.pid}`;
  readonly #waiting = new Set<Tape>();
  #tick: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #gathered: Buffer[] | undefined;
  #gatheredBytes = 0;
  #number = 0;
  #asides = 0;
  #fd: number | undefined;
  #bytes = 0;
  #pausedAt: number | undefined;

  constructor(options: BodyJournalOptions) {
    this.#options = options;
    // A file that an earlier process had open is complete as it is.
    for (const name of readdirSync(options.folder)) {
      if (name.endsWith(OPEN_SUFFIX)) this.#seal(name.slice(0, -OPEN_SUFFIX.length));
      if (name.endsWith(ASIDE_SUFFIX)) rmSync(join(options.folder, name), { force: true });
    }
  }

  /** Where a run's bodies go; undefined while the store does not keep up. */
  tape(run: RunId, startedAt: number): Tape | undefined {
    if (this.#pausedAt !== undefined && !this.#resumes()) return undefined;
    return new Tape(this, run, startedAt);
  }

  /** Writes large bodies to a file of their own while others have their turn; undefined where they cannot be kept. */
  async putAside(bodies: readonly Buffer[]): Promise<BodiesAside | undefined> {
    if (this.#pausedAt !== undefined && !this.#resumes()) return undefined;
    this.#asides += 1;
    try {
      return await BodiesAside.write(join(this.#options.folder, `${this.#prefix}-${this.#asides}${ASIDE_SUFFIX}`), bodies);
    } catch (error) {
      this.#pause(error);
      return undefined;
    }
  }

  /** From here on records wait for `flush`, which makes one write of them. */
  gather(): void {
    this.#gathered ??= [];
  }

  /** Writes what has gathered. */
  flush(): void {
    const gathered = this.#gathered;
    this.#gathered = undefined;
    this.#gatheredBytes = 0;
    if (gathered !== undefined && gathered.length > 0) this.#write(gathered);
  }

  /** Appends a record, whose bodies may be on the disk already; where it stands. */
  append(record: NewRecord, aside?: BodiesAside): Position {
    return (aside === undefined ? undefined : this.#appendAside(record, aside)) ?? this.#append(record);
  }

  #append(record: NewRecord): Position {
    const buffers = encodeRecord(record);
    const position = { segment: this.#segment(), offset: this.#bytes + this.#gatheredBytes };
    if (this.#gathered === undefined) this.#write(buffers);
    else
      for (const buffer of buffers) {
        this.#gathered.push(buffer);
        this.#gatheredBytes += buffer.length;
      }
    return position;
  }

  /** The file of the bodies becomes the next segment, so that records are found in the order in which they were written. */
  #appendAside(record: NewRecord, aside: BodiesAside): Position | undefined {
    const gathers = this.#gathered !== undefined;
    this.flush();
    if (gathers) this.gather();
    this.#close();
    this.#number += 1;
    try {
      if (!aside.seal(record, join(this.#options.folder, `${this.#stem()}${CLOSED_SUFFIX}`))) return undefined;
      this.#lookAtWaiting();
    } catch (error) {
      this.#pause(error);
    }
    return { segment: this.#number, offset: 0 };
  }

  /** The tape has something that is not on disk yet; it is asked for it within a second. */
  expect(tape: Tape): void {
    this.#waiting.add(tape);
    this.#tick ??= setTimeout(this.#flushDue, TICK_MS).unref();
  }

  /** The tape has nothing left. */
  settled(tape: Tape): void {
    this.#waiting.delete(tape);
  }

  /** Ends the segment that is written to, so that it can be deleted once it is drained. */
  rotate(): void {
    this.#close();
  }

  close(): void {
    this.#flushTapes(Number.POSITIVE_INFINITY);
    clearTimeout(this.#tick);
    clearTimeout(this.#idle);
    this.#close();
  }

  readonly #flushDue = (): void => {
    this.#tick = undefined;
    this.#flushTapes(performance.now() - FLUSH_MS + TICK_MS);
    if (this.#waiting.size > 0) this.#tick = setTimeout(this.#flushDue, TICK_MS).unref();
  };

  /** One write of everything that has waited since this time or longer. */
  #flushTapes(since: number): void {
    this.gather();
    try {
      for (const tape of this.#waiting) {
        // Tapes wait in the order in which they began to.
        if (tape.waitingSince > since) break;
        tape.flush();
      }
    } finally {
      this.flush();
    }
  }

  /** A record that did not get out whole ends its segment: only the last one may be torn. */
  #write(buffers: readonly Buffer[]): void {
    let length = 0;
    for (const buffer of buffers) length += buffer.length;
    try {
      const written = writevSync(this.#open(), buffers);
      this.#bytes += length;
      if (written < length) throw new AbpError('internal', 'the disk took only a part of it; is it full?');
      if (this.#bytes >= SEGMENT_BYTES) this.#close();
    } catch (error) {
      this.#pause(error);
      this.#close();
    }
  }

  #pause(error: unknown): void {
    if (this.#pausedAt === undefined)
      this.#options.onFault(`bodies cannot be recorded: ${error instanceof Error ? error.message : String(error)}`);
    this.#pausedAt = performance.now();
  }

  /** The number of the segment that is written to, or of the one to come. */
  #segment(): number {
    return this.#fd === undefined ? this.#number + 1 : this.#number;
  }

  #open(): number {
    if (this.#idle === undefined) this.#idle = setTimeout(() => this.#close(), IDLE_MS).unref();
    else this.#idle.refresh();
    if (this.#fd === undefined) {
      this.#number += 1;
      this.#bytes = 0;
      this.#fd = openSync(join(this.#options.folder, `${this.#stem()}${OPEN_SUFFIX}`), 'ax', 0o600);
    }
    return this.#fd;
  }

  #close(): void {
    if (this.#fd === undefined) return;
    closeSync(this.#fd);
    this.#fd = undefined;
    this.#seal(this.#stem());
    this.#bytes = 0;
    this.#lookAtWaiting();
  }

  #lookAtWaiting(): void {
    const waiting = this.#waitingBytes();
    if (waiting <= (this.#options.mostWaiting ?? MOST_WAITING)) return;
    this.#pausedAt = performance.now();
    this.#options.onFault(
      `${Math.round(waiting / 1024 / 1024)} MiB of bodies wait for the store; new runs are not recorded until it takes them`,
    );
  }

  #seal(stem: string): void {
    const file = join(this.#options.folder, stem);
    try {
      renameSync(`${file}${OPEN_SUFFIX}`, `${file}${CLOSED_SUFFIX}`);
    } catch (error) {
      this.#options.onFault(`a segment of bodies cannot be closed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #stem(): string {
    return `${this.#prefix}-${String(this.#number).padStart(6, '0')}`;
  }

  #resumes(): boolean {
    const now = performance.now();
    if (now - (this.#pausedAt ?? 0) < LOOK_AGAIN_MS) return false;
    this.#pausedAt = this.#waitingBytes() > (this.#options.mostWaiting ?? MOST_WAITING) ? now : undefined;
    return this.#pausedAt === undefined;
  }

  #waitingBytes(): number {
    let bytes = 0;
    for (const name of existsSync(this.#options.folder) ? readdirSync(this.#options.folder) : []) {
      if (name.endsWith(CLOSED_SUFFIX)) bytes += statSync(join(this.#options.folder, name), { throwIfNoEntry: false })?.size ?? 0;
    }
    return bytes;
  }
}
