import { AT_ONCE } from '../../base/bounded/buffers.ts';
import { ownTurn } from '../../base/bounded/turns.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { BodiesAside } from './bodies-aside.ts';
import {
  BEGIN,
  type BeginMeta,
  CALLER_PART,
  ENGINE_PART,
  type EndMeta,
  type HeadMeta,
  type NewRecord,
  type PartMeta,
  type Position,
  type RecordKind,
} from './record.ts';

/** The most that a run holds back before it is written. */
const HELD_BYTES = 64 * 1024;
/** An answer is recorded up to this size. */
const MOST_BYTES = 64 * 1024 * 1024;
const FEW = 4;

/** Where the records of tapes go. */
export interface TapeJournal {
  /** Appends a record, whose bodies may be on the disk already; where it stands. */
  append(record: NewRecord, aside?: BodiesAside): Position;
  /** The tape has something that is not on disk yet. */
  expect(tape: Tape): void;
  /** The tape has nothing left. */
  settled(tape: Tape): void;
}

/** The request as it came, as the engine gets it where that is another, and the file where large ones are already. */
export interface BegunBodies {
  readonly request: Buffer;
  readonly sent: Buffer | null;
  readonly aside?: BodiesAside | undefined;
}

/** Writes one run's bodies to the journal. A chunk costs two numbers and a reference until the next write. */
export class Tape {
  readonly #journal: TapeJournal;
  readonly #run: RunId;
  readonly #started: number;
  #last: Position | undefined;
  #held = 0;
  #over = false;
  /** When the oldest byte that is not on disk came. */
  waitingSince = 0;
  /** The engine's answer. */
  readonly engine: Track = new Track(this);
  /** The caller's answer, where that is another one. */
  readonly caller: Track = new Track(this);

  constructor(journal: TapeJournal, run: RunId, started: number) {
    this.#journal = journal;
    this.#run = run;
    this.#started = started;
  }

  /** The run begins, or is sent elsewhere. The bodies are written, so that nobody has to hold them. */
  begin(meta: BeginMeta, { request, sent, aside }: BegunBodies): void {
    const bodies = sent === null ? [request] : [request, sent];
    this.#last = this.#journal.append({ kind: BEGIN, last: false, run: this.#run, previous: this.#last, meta, bodies }, aside);
  }

  /** The run has ended: nothing more is recorded. */
  end(end: EndMeta): void {
    if (this.#over) return;
    this.#over = true;
    if (this.caller.waits) this.#append(CALLER_PART, this.caller.take(), this.caller.takeChunks());
    this.#append(ENGINE_PART, { ...this.engine.take(), end }, this.engine.takeChunks(), true);
    this.#held = 0;
    this.#journal.settled(this);
  }

  /** Writes what is held back. */
  flush(): void {
    if (this.caller.waits) this.#append(CALLER_PART, this.caller.take(), this.caller.takeChunks());
    if (this.engine.waits) this.#append(ENGINE_PART, this.engine.take(), this.engine.takeChunks());
    this.#held = 0;
    this.#journal.settled(this);
  }

  /** A track has more to write. */
  grew(bytes: number): void {
    if (this.#held === 0) {
      this.waitingSince = performance.now();
      this.#journal.expect(this);
    }
    // A head has no bytes of its own, but it waits as well.
    this.#held += bytes + 1;
    if (this.#held > HELD_BYTES) this.flush();
  }

  /** Microseconds since the request arrived. */
  now(): number {
    return Math.round((performance.now() - this.#started) * 1000);
  }

  get over(): boolean {
    return this.#over;
  }

  #append(kind: RecordKind, meta: PartMeta, bodies: readonly Buffer[], last = false): void {
    this.#last = this.#journal.append({ kind, last, run: this.#run, previous: this.#last, meta, bodies });
  }
}

/** One answer as it goes by. */
export class Track {
  readonly #tape: Tape;
  #head: HeadMeta | undefined;
  #marks: number[] = [];
  #chunks: Buffer[] = [];
  #trailers: readonly string[] | undefined;
  #bytes = 0;

  constructor(tape: Tape) {
    this.#tape = tape;
  }

  get waits(): boolean {
    return this.#head !== undefined || this.#marks.length > 0;
  }

  head(status: number, headers: readonly string[]): void {
    this.#head = { status, headers, us: this.#tape.now() };
    this.#tape.grew(0);
  }

  chunk(chunk: Buffer): void {
    this.#bytes += chunk.length;
    // An answer beyond the limit ends shorter than its digest says, and so is not complete.
    if (this.#bytes > MOST_BYTES || this.#tape.over) return;
    this.#marks.push(chunk.length, this.#tape.now());
    this.#chunks.push(chunk);
    this.#tape.grew(chunk.length);
  }

  /** All of an answer; many megabytes are written while others have their turn. */
  whole(body: Buffer): Promise<void> | undefined {
    if (body.length > AT_ONCE) return this.#inTurns(body);
    this.chunk(body);
    return undefined;
  }

  async #inTurns(body: Buffer): Promise<void> {
    for (let at = 0; at < body.length; at += AT_ONCE) {
      await ownTurn();
      this.chunk(body.subarray(at, at + AT_ONCE));
    }
  }

  trailers(trailers: readonly string[]): void {
    if (trailers.length > 0) this.#trailers = trailers;
  }

  take(): PartMeta {
    const part: PartMeta = {
      ...(this.#head === undefined ? {} : { head: this.#head }),
      marks: this.#marks,
      ...(this.#trailers === undefined ? {} : { trailers: this.#trailers }),
    };
    this.#head = undefined;
    this.#trailers = undefined;
    this.#marks = [];
    return part;
  }

  /** Many small chunks are one buffer: the system takes longer over each piece of a write than over its bytes. */
  takeChunks(): readonly Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks.length > FEW ? [Buffer.concat(chunks)] : chunks;
  }
}
