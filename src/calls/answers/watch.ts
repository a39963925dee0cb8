import { joined, joinedInTurns } from '../../base/bounded/buffers.ts';
import { isTooMuch, SseFrames, SseFrameTooLong } from '../../base/sse.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Observed, StreamObserver } from '../../dialects/dialect.ts';
import type { Digest } from '../../receipts/journal/facts.ts';
import type { Holding } from '../bounds/body-budget.ts';
import { decompress, isEncoding } from '../bounds/decoding.ts';
import { mayHoldMany } from '../large-bodies/large-bodies.ts';
import { BodyDigest } from './body-digest.ts';
import { EventSizes } from './event-sizes.ts';
import { LineWatch } from './line-watch.ts';
import { LongTexts } from './long-texts.ts';
import { type AnswerReader, NOTHING_SEEN, type SeenAnswer, seenAnswer } from './seen-answer.ts';

/** A body in one piece that is larger than this is relayed and hashed, but not read for usage. */
const MOST_READ = 64 * 1024 * 1024;
/** An event that says more, besides pictures and sounds, would keep other calls waiting while it is read. */
const MOST_SAID = 8 * 1024 * 1024;
/** Shorter events tell nothing of usage, tools or the end; a chunk may hold ten thousand of them. */
const SHORTEST_TOLD = 16;
/** A body up to this size is read in the time the network takes for a packet. */
const READ_AT_ONCE = 256 * 1024;

const UNSEEN: SeenAnswer = { eventCount: 1, observed: NOTHING_SEEN };

/** Reads an answer on another thread. */
export type ReadAside = (body: Buffer, streamed: boolean) => Promise<SeenAnswer>;

export interface WatchOptions {
  readonly reader: AnswerReader | undefined;
  readonly contentType: string;
  readonly encoding: string;
  readonly holding: Holding;
  readonly aside: ReadAside;
}

export interface Watched {
  readonly digest: Digest;
  readonly eventCount: number;
  readonly observed: Observed;
  /** Our estimate of what a stream wrote, by the sizes of its events. */
  readonly writtenTokens?: number;
}

/** Looks at an answer as it goes by: digest, event count, usage. Adds nothing, delays nothing. */
export class Watch {
  readonly #reader: AnswerReader | undefined;
  readonly #encoding: string;
  readonly #streamed: boolean;
  readonly #frames: SseFrames | undefined;
  #observer: StreamObserver | undefined;
  readonly #lines: LineWatch | undefined;
  /** The stream cannot be read to its end: bytes pass and are hashed, and usage is unknown. */
  #blind = false;
  readonly #digest = new BodyDigest();
  /** Bytes of an answer that we can read only when it is whole. */
  #kept: Buffer[] = [];
  /** The memory that this takes; without room for it the answer passes and its usage stays unknown. */
  readonly #holding: Holding;
  readonly #aside: ReadAside;
  #events = 0;
  readonly #sizes = new EventSizes();

  constructor({ reader, contentType, encoding, holding, aside }: WatchOptions) {
    this.#holding = holding;
    this.#aside = aside;
    this.#reader = reader;
    this.#encoding = encoding;
    if (reader?.observeLines !== undefined) this.#lines = new LineWatch(reader.observeLines(), encoding);
    this.#streamed = contentType.startsWith('text/event-stream');
    if (this.#streamed && encoding === '') {
      this.#frames = new SseFrames();
      this.#observer = reader?.observeStream();
    }
  }

  chunk(chunk: Buffer): void {
    const hashed = this.#digest.update(chunk);
    if (hashed !== undefined) this.#look(hashed);
  }

  /**
   * Ends the watching and says what was seen: at once where that is quick, so that the recorder can journal it before the caller has the
   * last byte.
   */
  done(whole = true): Watched | Promise<Watched> {
    const { digest, rest } = this.#digest.done();
    this.#look(rest);
    if (this.#lines !== undefined) return this.#lines.done(whole).then((observed) => ({ digest, eventCount: 1, observed }));
    const frames = this.#frames;
    if (frames !== undefined) {
      this.#cut(() => frames.flush());
      this.#holding.release();
      const observed = this.#observer?.done() ?? NOTHING_SEEN;
      return {
        digest,
        eventCount: this.#events,
        observed,
        ...(this.#blind || isTold(observed) ? {} : this.#sizes.written()),
      };
    }
    if (this.#blind || this.#encoding !== '' || this.#digest.bytes > READ_AT_ONCE) return this.#later(digest);
    const body = joined(this.#kept);
    if (mayHoldMany(body)) return this.#later(digest);
    this.#holding.release();
    return { digest, ...seenAnswer(body, this.#reader, false) };
  }

  #look(data: Buffer): void {
    const frames = this.#frames;
    if (this.#lines !== undefined) this.#lines.chunk(data);
    else if (frames !== undefined) this.#cut(() => frames.push(data));
    else if (!this.#blind) this.#keep(data);
  }

  #keep(data: Buffer): void {
    try {
      if (this.#digest.bytes > MOST_READ) throw new AbpError('overloaded', 'the answer is too large to be read');
      this.#holding.take(data.length);
      this.#kept.push(data);
    } catch (error) {
      if (!AbpError.is(error)) throw error;
      this.#blind = true;
      this.#kept = [];
      this.#holding.release();
    }
  }

  async #later(digest: Digest): Promise<Watched> {
    const chunks = this.#kept;
    this.#kept = [];
    try {
      const kept = await joinedInTurns(chunks, this.#blind ? 0 : this.#digest.bytes);
      const body = this.#blind ? undefined : await this.#decoded(kept);
      return { digest, ...(body === undefined ? UNSEEN : await this.#seen(body)) };
    } finally {
      this.#holding.release();
    }
  }

  /** Undefined when it cannot be decoded, which is the engine's affair and not the caller's: truncated by a cancelled call, or a bomb. */
  async #decoded(body: Buffer): Promise<Buffer | undefined> {
    if (this.#encoding === '') return body;
    if (!isEncoding(this.#encoding)) return undefined;
    return await decompress(body, this.#encoding, { most: MOST_READ, holding: this.#holding }).catch(() => undefined);
  }

  /** A long answer is read on another thread; where that has no room its usage stays unknown. */
  async #seen(body: Buffer): Promise<SeenAnswer> {
    if (body.length <= READ_AT_ONCE && !mayHoldMany(body)) return seenAnswer(body, this.#reader, this.#streamed);
    return await this.#aside(body, this.#streamed).catch((error: unknown) => {
      if (!AbpError.is(error)) throw error;
      return UNSEEN;
    });
  }

  /** Reads events out of the bytes. A fault in reading must not fail an answer that passes unchanged. */
  #cut(frames: () => readonly Buffer[]): void {
    if (this.#blind) return;
    try {
      this.#see(frames());
    } catch (error) {
      if (!(error instanceof SseFrameTooLong || AbpError.is(error))) throw error;
      this.#blind = true;
      this.#holding.release();
      // The usage seen so far would pass for that of the whole answer.
      this.#observer = undefined;
    }
  }

  #see(frames: readonly Buffer[]): void {
    this.#events += frames.length;
    if (frames.some(isTooMuch)) throw new SseFrameTooLong(MOST_SAID);
    this.#sizes.add(frames);
    const observer = this.#observer;
    if (observer !== undefined) for (const frame of frames) if (frame.length >= SHORTEST_TOLD) observer.frame(readable(frame));
    this.#holding.keep((observer?.held ?? 0) + (this.#frames?.held ?? 0));
  }
}

/** An event without pictures and sounds, which tell nothing. */
function readable(frame: Buffer): Buffer {
  if (frame.length <= READ_AT_ONCE) return frame;
  const said = new LongTexts().take(frame);
  if (said.length > MOST_SAID) throw new SseFrameTooLong(MOST_SAID);
  return said;
}

/** The engine has told all it used. */
function isTold({ usage, finish }: Observed): boolean {
  return usage !== undefined && finish !== undefined;
}
