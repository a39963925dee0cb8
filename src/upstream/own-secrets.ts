import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { type SecretMask, secretMask } from '../base/redact.ts';
import type { EngineNote, Exchange, ExchangeFailure, ExchangeRequest, ExchangeSink, Splice, SpliceFilter, Transport } from './exchange.ts';

/** A compressed error is held until it can be looked through; no vendor's is longer. */
const MOST_HELD = 1024 * 1024;
const MOST_DECODED = 2 * 1024 * 1024;

/** Errors of engines stand beside this word, also in a stream that began well; answers without one may say that it is null. */
const ERROR = Buffer.from('"error"');
const [SPACE, COLON, LETTER_N] = [0x20, 0x3a, 0x6e];

function tellsError(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(ERROR); at !== -1; at = bytes.indexOf(ERROR, at)) {
    at += ERROR.length;
    while (bytes[at] === SPACE || bytes[at] === COLON) at += 1;
    if (bytes[at] !== LETTER_N) return true;
  }
  return false;
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }, done: (error: Error | null, decoded: Buffer) => void) => void;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotliDecompress],
  ['zstd', zstdDecompress],
]);

/** Where SDKs put a credential. */
export const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']);

/** A word that stands in for a key because an SDK insists on one is shorter, and may be in any text. */
const SHORTEST_KEY = 16;

/** Credentials that go to the engine with a request. */
function carried({ headers, path }: Pick<ExchangeRequest, 'headers' | 'path'>): string[] {
  const values: string[] = [];
  for (let at = 0; at < headers.length; at += 2)
    if (CREDENTIAL_HEADERS.has((headers[at] ?? '').toLowerCase())) values.push((headers[at + 1] ?? '').replace(/^\w+\s+/, ''));
  const query = path.indexOf('?');
  if (query !== -1) values.push(...new URLSearchParams(path.slice(query + 1)).getAll('key'));
  return values.filter((value) => value.length >= SHORTEST_KEY);
}

/** The mask of each request: of our secrets, and of the caller's own credential where that goes along. */
function maskOfEach(secrets: readonly string[]): (request: Pick<ExchangeRequest, 'headers' | 'path'>) => SecretMask | undefined {
  const ours = secretMask(secrets);
  const known = new Set(secrets);
  return (request) => {
    const theirs = carried(request).filter((value) => !known.has(value));
    return theirs.length === 0 ? ours : lateMask([...secrets, ...theirs]);
  };
}

/** Made at the first error: nearly all answers have none. */
function lateMask(values: readonly string[]): SecretMask {
  let made: SecretMask | undefined;
  const mask = (): SecretMask => {
    made ??= secretMask(values) ?? NOTHING;
    return made;
  };
  return { text: (text) => mask().text(text), bytes: (bytes) => mask().bytes(bytes), opened: (bytes) => mask().opened(bytes) };
}

const NOTHING: SecretMask = { text: (text) => text, bytes: (bytes) => bytes, opened: () => 0 };

/**
 * A transport whose errors tell none of the secrets that we send to its engine, nor the credential that its caller sends along: what an
 * error says goes into receipts, which keep it. Some servers quote the key that they refuse. What is masked keeps its length, so that the
 * bytes of an answer need not be held for it; answers without an error are not looked through.
 */
export function withoutOwnSecrets(transport: Transport, secrets: readonly string[]): Transport {
  const maskFor = maskOfEach(secrets);
  return (request: ExchangeRequest, sink: ExchangeSink): Exchange => {
    const mask = maskFor(request);
    if (mask === undefined) return transport(request, sink);
    const masked = new MaskedSink(sink, mask);
    masked.exchange = transport(request, masked);
    return masked.exchange;
  };
}

/** The same for connections that leave HTTP. */
export function spliceWithoutOwnSecrets(splice: Splice, secrets: readonly string[]): Splice {
  const maskFor = maskOfEach(secrets);
  return (request, sink) => {
    const mask = maskFor(request);
    if (mask === undefined) return splice(request, sink);
    return splice(request, {
      open: (headers, socket) => sink.open(headers, socket, new MaskedBytes(mask)),
      refuse: (status, headers, body) => sink.refuse(status, headers.map(mask.text), mask.bytes(body)),
      fail: (failure) => sink.fail({ ...failure, message: mask.text(failure.message) }),
    });
  };
}

/** Bytes in pieces. Once they speak of an error, a piece whose end may be the beginning of a secret is held back until more is known. */
class MaskedBytes implements SpliceFilter {
  readonly #mask: SecretMask;
  #failing: boolean;
  #held: Buffer | undefined;

  constructor(mask: SecretMask, failing = false) {
    this.#mask = mask;
    this.#failing = failing;
  }

  chunk(chunk: Buffer): Buffer {
    this.#failing ||= tellsError(chunk);
    if (!this.#failing) return chunk;
    const masked = this.#mask.bytes(this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]));
    const open = this.#mask.opened(masked);
    this.#held = open === 0 ? undefined : masked.subarray(masked.length - open);
    return open === 0 ? masked : masked.subarray(0, masked.length - open);
  }

  rest(): Buffer | undefined {
    const held = this.#held;
    this.#held = undefined;
    return held;
  }
}

interface Head {
  readonly status: number;
  readonly headers: readonly string[];
  readonly note: EngineNote | undefined;
}

class MaskedSink implements ExchangeSink {
  readonly #sink: ExchangeSink;
  readonly #mask: SecretMask;
  #bytes: MaskedBytes | undefined;
  exchange: Exchange | undefined;
  /** The error was told, and the engine has more to say of it. */
  #cut = false;
  /** A compressed error, held. */
  #held: { readonly head: Head; readonly decoder: Decoder; readonly chunks: Buffer[]; size: number } | undefined;

  constructor(sink: ExchangeSink, mask: SecretMask) {
    this.#sink = sink;
    this.#mask = mask;
  }

  head(status: number, headers: readonly string[], note?: EngineNote): void {
    const encoding = headerIn(headers, 'content-encoding').toLowerCase();
    if (status < 400) {
      // A compressed answer that is no error is the caller's to decode.
      if (encoding === '' || encoding === 'identity') this.#bytes = new MaskedBytes(this.#mask);
      this.#sink.head(status, headers, note);
      return;
    }
    const shown = headers.map((item, at) => (at % 2 === 0 ? item : this.#mask.text(item)));
    const decoder = DECODERS.get(encoding);
    if (decoder !== undefined) {
      this.#held = { head: { status, headers: shown, note }, decoder, chunks: [], size: 0 };
      return;
    }
    this.#bytes = new MaskedBytes(this.#mask, true);
    this.#sink.head(status, shown, note);
  }

  data(chunk: Buffer): boolean {
    const held = this.#held;
    if (this.#cut) return true;
    if (held === undefined) return this.#pass(this.#bytes?.chunk(chunk) ?? chunk);
    held.size += chunk.length;
    if (held.size <= MOST_HELD) held.chunks.push(chunk);
    else this.#cutHeld();
    return true;
  }

  /** An error that is longer than what is looked through is not waited for: it may have no end. */
  #cutHeld(): void {
    this.#decode([]);
    this.#cut = true;
    this.exchange?.abort();
  }

  end(trailers: readonly string[]): void {
    if (this.#cut) return;
    if (this.#held !== undefined) this.#decode(trailers);
    else {
      const rest = this.#bytes?.rest();
      if (rest !== undefined) this.#pass(rest);
      this.#sink.end(trailers);
    }
  }

  fail(failure: ExchangeFailure): void {
    if (this.#cut) return;
    this.#held = undefined;
    const rest = this.#bytes?.rest();
    if (rest !== undefined) this.#pass(rest);
    this.#sink.fail({ ...failure, message: this.#mask.text(failure.message) });
  }

  #pass(bytes: Buffer): boolean {
    return bytes.length === 0 || this.#sink.data(bytes);
  }

  /** An error without a secret goes on as it came; one that cannot be read may hold anything, and is told without its body. */
  #decode(trailers: readonly string[]): void {
    const held = this.#held;
    if (held === undefined) return;
    const { head, decoder, chunks, size } = held;
    const whole = Buffer.concat(chunks);
    const tell = (body: Buffer, headers: readonly string[]): void => {
      this.#sink.head(head.status, headers, head.note);
      this.#pass(body);
      this.#sink.end(trailers);
    };
    if (size === 0) tell(whole, head.headers);
    else if (size > MOST_HELD) tell(...plain(UNREADABLE, head.headers));
    else
      decoder(whole, { maxOutputLength: MOST_DECODED }, (error, decoded) => {
        if (error !== null) return tell(...plain(UNREADABLE, head.headers));
        const masked = this.#mask.bytes(decoded);
        if (masked === decoded) tell(whole, head.headers);
        else tell(...plain(masked, head.headers));
      });
  }
}

const UNREADABLE = Buffer.from('{"error":{"message":"The engine’s error is compressed in a way that cannot be read."}}');

/** A body that is no longer compressed, with headers that say so. */
function plain(body: Buffer, headers: readonly string[]): [Buffer, string[]] {
  const kept = headers.flatMap((item, at) =>
    at % 2 === 0 && !/^content-(?:encoding|length)$/i.test(item) ? [item, headers[at + 1] ?? ''] : [],
  );
  return [body, [...kept, 'content-length', String(body.length)]];
}

function headerIn(headers: readonly string[], name: string): string {
  for (let at = 0; at < headers.length; at += 2) if (headers[at]?.toLowerCase() === name) return headers[at + 1] ?? '';
  return '';
}
