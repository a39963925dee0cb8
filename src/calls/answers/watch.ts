import { SseFrames, SseFrameTooLong } from '../../base/sse.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Dialect, Observed, StreamObserver } from '../../dialects/dialect.ts';
import type { Digest } from '../../receipts/journal/facts.ts';
import type { Holding } from '../bounds/body-budget.ts';
import { decompress, isEncoding } from '../bounds/decoding.ts';
import { BodyDigest, joined } from './body-digest.ts';

/** A body larger than this is relayed and hashed, but not read for usage. */
const MOST_READ = 64 * 1024 * 1024;
/** A body up to this size is read in the time the network takes for a packet. */
const READ_AT_ONCE = 256 * 1024;

const NOTHING: Observed = { toolCalls: [] };

/** What became of the answer's bytes. */
export interface Watched {
  readonly digest: Digest;
  readonly eventCount: number;
  readonly observed: Observed;
  /** Our estimate of what a stream wrote, by the sizes of its events. */
  readonly writtenTokens?: number;
}

/** Looks at an answer as it goes by: digest, event count, usage. Adds nothing, delays nothing. */
export class Watch {
  readonly #dialect: Dialect | undefined;
  readonly #encoding: string;
  readonly #streamed: boolean;
  readonly #frames: SseFrames | undefined;
  #observer: StreamObserver | undefined;
  /** The stream cannot be read to its end: bytes pass and are hashed, and usage is unknown. */
  #blind = false;
  readonly #digest = new BodyDigest();
  /** What must be whole before it can be read. */
  #kept: Buffer[] = [];
  /** The memory that this takes; without room for it the answer passes and its usage stays unknown. */
  readonly #holding: Holding;
  #events = 0;
  readonly #sizes = new EventSizes();

  constructor(dialect: Dialect | undefined, contentType: string, encoding: string, holding: Holding) {
    this.#holding = holding;
    this.#dialect = dialect;
    this.#encoding = encoding;
    this.#streamed = contentType.startsWith('text/event-stream');
    if (this.#streamed && encoding === '') {
      this.#frames = new SseFrames();
      this.#observer = dialect?.observeStream();
    }
  }

  chunk(chunk: Buffer): void {
    const hashed = this.#digest.update(chunk);
    if (hashed !== undefined) this.#look(hashed);
  }

  /** What became of the answer: at once where that is quick, so that it can be journaled before the caller has the last byte. */
  done(): Watched | Promise<Watched> {
    const { digest, rest } = this.#digest.done();
    this.#look(rest);
    if (this.#frames !== undefined) {
      if (!this.#blind) this.#see(this.#frames.flush());
      return {
        digest,
        eventCount: this.#events,
        observed: this.#observer?.done() ?? NOTHING,
        ...(this.#blind ? {} : this.#sizes.written()),
      };
    }
    if (this.#blind || this.#encoding !== '' || this.#digest.bytes > READ_AT_ONCE) return this.#later(digest);
    const observed = this.#body(joined(this.#kept));
    this.#holding.release();
    return { digest, eventCount: 1, observed };
  }

  #look(data: Buffer): void {
    if (this.#frames !== undefined) this.#cut(this.#frames, data);
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
    const kept = joined(this.#kept);
    this.#kept = [];
    try {
      const body = this.#blind ? undefined : await this.#decoded(kept);
      if (body === undefined) return { digest, eventCount: 1, observed: NOTHING };
      return this.#streamed ? { digest, ...this.#whole(body) } : { digest, eventCount: 1, observed: this.#body(body) };
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

  /** What passes unchanged must not fail because it cannot be watched. */
  #cut(frames: SseFrames, data: Buffer): void {
    if (this.#blind) return;
    try {
      this.#see(frames.push(data));
    } catch (error) {
      if (!(error instanceof SseFrameTooLong)) throw error;
      this.#blind = true;
      // What was seen so far would pass for the usage of the whole.
      this.#observer = undefined;
    }
  }

  #see(frames: readonly Buffer[]): void {
    this.#events += frames.length;
    this.#sizes.add(frames);
    if (this.#observer !== undefined) for (const frame of frames) this.#observer.frame(frame);
  }

  /** A compressed stream is read once it is complete. */
  #whole(body: Buffer): { eventCount: number; observed: Observed } {
    const frames = new SseFrames();
    const observer = this.#dialect?.observeStream();
    const all = [...frames.push(body), ...frames.flush()];
    for (const frame of all) observer?.frame(frame);
    return { eventCount: all.length, observed: observer?.done() ?? NOTHING };
  }

  #body(body: Buffer): Observed {
    return this.#dialect?.observeBody(body.toString('utf8')) ?? NOTHING;
  }
}

/** Bytes that tell one kind of event from another, and how many kinds and lengths are told apart. */
const KIND_BYTES = 28;
const MOST_KINDS = 32;
const MOST_LENGTHS = 256;

/** Events of one kind. */
class EventKind {
  count = 0;
  readonly #lengths = new Set<number>();
  #bytes = 0;
  /** The shortest length that came twice: an end without words comes once. */
  #shortest = Number.POSITIVE_INFINITY;

  add(length: number): void {
    this.count += 1;
    this.#bytes += length;
    if (this.#lengths.has(length)) this.#shortest = Math.min(this.#shortest, length);
    else if (this.#lengths.size < MOST_LENGTHS) this.#lengths.add(length);
  }

  /** Deltas differ in nothing but what they say: the shortest is a token, and four bytes more are one more. */
  get tokens(): number {
    if (!Number.isFinite(this.#shortest)) return this.count;
    return this.count + Math.max(0, Math.round((this.#bytes - this.count * this.#shortest) / 4));
  }
}

/** The sizes of a stream's events by kind, from which what was written is estimated where the engine does not tell. */
class EventSizes {
  readonly #kinds = new Map<string, EventKind>();

  add(frames: readonly Buffer[]): void {
    for (const frame of frames) {
      const name = frame.toString('latin1', 0, KIND_BYTES);
      const kind = this.#kinds.get(name) ?? new EventKind();
      if (kind.count === 0 && this.#kinds.size >= MOST_KINDS) continue;
      this.#kinds.set(name, kind);
      kind.add(frame.length);
    }
  }

  /** Most events are deltas. */
  written(): { writtenTokens?: number } {
    const deltas = [...this.#kinds.values()].reduce((most, kind) => (kind.count > most.count ? kind : most), new EventKind());
    return deltas.count === 0 ? {} : { writtenTokens: deltas.tokens };
  }
}
