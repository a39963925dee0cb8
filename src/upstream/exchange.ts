import type { Duplex, Readable } from 'node:stream';
import type { Json } from '../base/json.ts';
import type { AbpError } from '../contract/errors.ts';

/** One request to an engine, headers as a flat list of names and values in the order they are written. */
export interface ExchangeRequest {
  readonly method: string;
  readonly origin: string;
  /** Path and query as they stand on the request line. */
  readonly path: string;
  readonly headers: readonly string[];
  /** A stream for paths that are passed on unread. */
  readonly body: Buffer | Readable | null;
  /** The body as a value, where this process wrote it: an engine inside this process need not parse it again. */
  readonly json?: Json;
  /** Milliseconds the engine may stay silent before the call is given up. */
  readonly silenceMs: number;
  /** The run and its dialect, for an engine that runs inside this process. */
  readonly runHex: string;
  readonly dialect?: string;
  /** The model that is asked for, where it is known: vendors count their limits by model. */
  readonly model?: string | null;
  /** The caller's words to an engine inside this process: its `X-ABP-…` headers by lower-case name. */
  readonly asides?: Readonly<Record<string, string>> | undefined;
}

/** The word of an engine inside this process on its answer; it goes into the receipt. */
export interface EngineNote {
  readonly reason: string;
  /** Which version of the engine it was. */
  readonly version: string;
}

/** Where the answer goes. `head` comes once, then any number of `data`, then exactly one of `end` and `fail`. */
export interface ExchangeSink {
  head(status: number, headers: readonly string[], note?: EngineNote): void;
  /** False asks the engine to pause until `resume`. */
  data(chunk: Buffer): boolean;
  end(trailers: readonly string[]): void;
  fail(failure: ExchangeFailure): void;
}

export type FailureKind = 'unreachable' | 'timeout' | 'broken' | 'aborted' | 'busy' | 'refused';

/** Why no whole answer came. */
export interface ExchangeFailure {
  readonly kind: FailureKind;
  readonly message: string;
  /** The error as the caller gets it, where an engine inside this process has made it. */
  readonly error?: AbpError;
}

/** A call under way. */
export interface Exchange {
  abort(): void;
  resume(): void;
}

/** How an engine is reached: over HTTP, or inside this process. */
export type Transport = (request: ExchangeRequest, sink: ExchangeSink) => Exchange;

/** Bytes of an engine on their way to the caller, piece by piece. */
export interface SpliceFilter {
  chunk(chunk: Buffer): Buffer;
  /** Bytes that were held back, at the end. */
  rest(): Buffer | undefined;
}

/** A connection that leaves HTTP: a WebSocket to an engine. */
export interface SpliceSink {
  /** The engine agreed; from here on the bytes are the two ends' own, but for what the filter takes out of the engine's. */
  open(headers: readonly string[], socket: Duplex, filter?: SpliceFilter): void;
  /** The engine answered in HTTP instead. */
  refuse(status: number, headers: readonly string[], body: Buffer): void;
  fail(failure: ExchangeFailure): void;
}

/** Asks an engine to leave HTTP for the protocol; `abort` gives up while it has not answered. */
export type Splice = (
  request: Pick<ExchangeRequest, 'origin' | 'path' | 'headers' | 'silenceMs'>,
  sink: SpliceSink,
) => Pick<Exchange, 'abort'>;
