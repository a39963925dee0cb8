import { Agent, type Dispatcher } from 'undici';
import type { Exchange, ExchangeFailure, ExchangeSink, FailureKind, Transport } from './exchange.ts';

/** Limits of the connections to one engine. */
export interface HttpOptions {
  readonly maxConnections: number;
  readonly connectMs: number;
  /** Extra certificate authority in PEM. */
  readonly ca?: string;
}

export interface HttpTransport {
  readonly transport: Transport;
  close(): Promise<void>;
}

/** The one HTTP client of the data path: HTTP/1.1, kept-alive connections, a cap that answers `busy` instead of queueing silently. */
export function httpTransport(options: HttpOptions): HttpTransport {
  const agent = new Agent({
    connections: options.maxConnections,
    pipelining: 1,
    connect: { timeout: options.connectMs, ...(options.ca === undefined ? {} : { ca: options.ca }) },
    keepAliveTimeout: 30_000,
  });
  let inFlight = 0;
  const settle = (): void => {
    inFlight -= 1;
  };
  const transport: Transport = (request, sink) => {
    if (inFlight >= options.maxConnections) {
      sink.fail({ kind: 'busy', message: `all ${options.maxConnections} connections to ${request.origin} are in use` });
      return { abort: () => undefined, resume: () => undefined };
    }
    inFlight += 1;
    const call = new HttpCall(sink, settle);
    agent.dispatch(
      {
        origin: request.origin,
        path: request.path,
        method: request.method as Dispatcher.HttpMethod, // the caller's method token, checked by the HTTP parser
        headers: request.headers as string[], // undici reads the list and does not change it
        body: request.body,
        headersTimeout: request.silenceMs,
        bodyTimeout: request.silenceMs,
      },
      call,
    );
    return call;
  };
  return { transport, close: () => agent.close() };
}

class HttpCall implements Exchange, Dispatcher.DispatchHandler {
  readonly #sink: ExchangeSink;
  readonly #settle: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted = false;
  #done = false;

  constructor(sink: ExchangeSink, settle: () => void) {
    this.#sink = sink;
    this.#settle = settle;
  }

  abort(): void {
    if (this.#done) return;
    this.#aborted = true;
    this.#controller?.abort(new Error('the caller went away'));
  }

  resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(new Error('the caller went away'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // 1xx is between the engine and us.
    if (status >= 200) this.#sink.head(status, flatHeaders(controller.rawHeaders));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#sink.data(chunk)) controller.pause();
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#finish();
    this.#sink.end(flatHeaders(controller.rawTrailers));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#done) return;
    this.#finish();
    this.#sink.fail(failureOf(error, this.#aborted));
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    this.#settle();
  }
}

/** Engines write header values in latin1; that is how they are read and written back. */
function flatHeaders(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((item) => (typeof item === 'string' ? item : item.toString('latin1')));
}

const KINDS: Readonly<Record<string, FailureKind>> = {
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'unreachable',
  ECONNREFUSED: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
};

function failureOf(error: Error & { code?: string }, aborted: boolean): ExchangeFailure {
  if (aborted) return { kind: 'aborted', message: 'the caller went away' };
  const { cause } = error;
  const code = error.code ?? (cause instanceof Error && 'code' in cause ? String(cause.code) : '');
  return { kind: KINDS[code] ?? 'broken', message: error.message === '' ? code : error.message };
}
