import { isJsonObject, type Json, listIn, parseJson } from '../../base/json.ts';
import { decodeSse } from '../../base/sse.ts';

/** Bytes that tell one kind of event from another, and how many kinds and lengths are told apart. */
const KIND_BYTES = 28;
const MOST_KINDS = 32;
const MOST_LENGTHS = 256;
/** A longer event is not kept to be read. */
const MOST_KEPT = 64 * 1024;
/** Bytes of a token. */
const TOKEN = 4;

/** Members of events in which engines write what they say. */
const WORDS = new Set([
  'text',
  'content',
  'delta',
  'partial_json',
  'arguments',
  'input',
  'thinking',
  'reasoning',
  'reasoning_content',
  'refusal',
]);

/** The sizes of a stream's events by kind, from which what was written is estimated where the engine does not tell. */
export class EventSizes {
  readonly #kinds = new Map<string, EventKind>();

  add(frames: readonly Buffer[]): void {
    for (const frame of frames) {
      const name = frame.toString('latin1', 0, KIND_BYTES);
      const kind = this.#kinds.get(name) ?? new EventKind();
      if (kind.count === 0 && this.#kinds.size >= MOST_KINDS) continue;
      this.#kinds.set(name, kind);
      kind.add(frame);
    }
  }

  /** Most events are deltas. Where no kind is the most frequent, that which says the most is theirs. */
  written(): { writtenTokens?: number } {
    let [most, tokens] = [0, 0];
    for (const kind of this.#kinds.values()) {
      if (kind.count < most) continue;
      const told = kind.tokens;
      tokens = kind.count > most ? told : Math.max(tokens, told);
      most = kind.count;
    }
    return most === 0 ? {} : { writtenTokens: tokens };
  }
}

/** Events of one kind. */
class EventKind {
  count = 0;
  readonly #lengths = new Set<number>();
  #bytes = 0;
  /** The shortest event of a length that came twice: an end without words comes once. */
  #shortest: Buffer | undefined;
  /** The longest, as long as no length has come twice. */
  #longest: Buffer | undefined;

  add(frame: Buffer): void {
    const { length } = frame;
    this.count += 1;
    this.#bytes += length;
    if (this.#lengths.has(length)) {
      if (length >= (this.#shortest?.length ?? Number.POSITIVE_INFINITY)) return;
      this.#longest = undefined;
      this.#shortest = copyOf(frame);
      return;
    }
    if (this.#lengths.size < MOST_LENGTHS) this.#lengths.add(length);
    if (this.#shortest === undefined && length > (this.#longest?.length ?? 0)) this.#longest = copyOf(frame) ?? this.#longest;
  }

  /** Deltas differ in nothing but what they say. Each is a token at least, and four bytes more are one more. */
  get tokens(): number {
    const sample = this.#shortest ?? this.#longest;
    if (sample === undefined) return this.count;
    const beside = sample.length - Math.max(0, wordsIn(sample) - TOKEN);
    return this.count + Math.max(0, Math.round((this.#bytes - this.count * beside) / TOKEN));
  }
}

/** A piece of a chunk would keep the whole chunk in memory. */
function copyOf(frame: Buffer): Buffer | undefined {
  return frame.length > MOST_KEPT ? undefined : Buffer.from(frame);
}

/** Bytes of an event that are words of the answer. */
function wordsIn(frame: Buffer): number {
  const parsed = parseJson(decodeSse(frame).data);
  return parsed.ok ? bytesOf(parsed.value, '') : 0;
}

function bytesOf(value: Json, key: string): number {
  if (typeof value === 'string') return WORDS.has(key) ? Buffer.byteLength(value) : 0;
  const members = Array.isArray(value) ? listIn(value).map((one) => [key, one] as const) : isJsonObject(value) ? Object.entries(value) : [];
  return members.reduce((sum, [name, member]) => sum + bytesOf(member, name), 0);
}
