import type { Readable } from 'node:stream';
import type { buildConnector as Connector, Dispatcher } from 'undici';
import { endsTurn } from '../base/bounded/turns.ts';
import type { Exchange, ExchangeRequest, ExchangeSink, Splice, Transport } from './exchange.ts';
import { failureOf } from './failure.ts';
import { flatHeaders, SpliceCall } from './splice.ts';
import { Agent, buildConnector, EnvHttpProxyAgent, errors } from './undici.ts';

/** Limits of the connections to one engine. */
export interface HttpOptions {
  readonly maxConnections: number;
  readonly connectMs: number;
  /** Extra certificate authority in PEM. */
  readonly ca?: string;
}

export interface HttpTransport {
  readonly transport: Transport;
  readonly splice: Splice;
  close(): Promise<void>;
}

/** The one HTTP client of the data path: HTTP/1.1, kept-alive connections, a cap that answers `busy` instead of queueing silently. */
export function httpTransport(options: HttpOptions): HttpTransport {
  const agent = dispatcherOf(options);
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
    const call = new HttpCall(
      { sink, settle, waitMs: Buffer.isBuffer(request.body) || request.body === null ? request.silenceMs : 0 },
      (handler) =>
        agent.dispatch(
          {
            origin: request.origin,
            path: request.path,
            method: request.method as Dispatcher.HttpMethod, // the caller's method token, checked by the HTTP parser
            ...payloadOf(request),
            headersTimeout: request.silenceMs,
            bodyTimeout: request.silenceMs,
          },
          handler,
        ),
    );
    call.start();
    return call;
  };
  const splice: Splice = ({ origin, path, headers, silenceMs }, sink) => {
    const call = new SpliceCall(sink);
    // Undici reads the list and does not change it.
    agent.dispatch({ origin, path, method: 'GET', upgrade: 'websocket', headers: headers as string[], headersTimeout: silenceMs }, call);
    return call;
  };
  return { transport, splice, close: () => agent.close() };
}

/** Undici holds a request's body until the answer ends; from this size on it gets one that lets go of its bytes. */
const HELD_BYTES = 16 * 1024;

function payloadOf({ headers, body }: ExchangeRequest): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  if (!Buffer.isBuffer(body) || body.length < HELD_BYTES) return { headers: headers as string[], body }; // undici reads the list and does not change it
  return { headers: [...headers, 'content-length', String(body.length)], body: given(body) as unknown as Readable }; // undici takes any iterable of bytes; its types leave that out
}

/** Yields the bytes once and forgets them. */
function given(body: Buffer): Iterable<Buffer> {
  let bytes: Buffer | undefined = body;
  return {
    [Symbol.iterator]: () => ({
      next: () => {
        if (bytes === undefined) return { done: true, value: undefined };
        const value = bytes;
        bytes = undefined;
        return { done: false, value };
      },
    }),
  };
}

const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

/** Straight to the engine, or through the proxy that the environment names (`NO_PROXY` holds exceptions). */
function dispatcherOf(options: HttpOptions): Dispatcher {
  const pool = { connections: options.maxConnections, pipelining: 1, keepAliveTimeout: 30_000 };
  if (!PROXY_VARIABLES.some((name) => (process.env[name] ?? '') !== '')) return new Agent({ ...pool, connect: connectorOf(options) });
  const tls = { timeout: options.connectMs, ...(options.ca === undefined ? {} : { ca: options.ca }) };
  return new EnvHttpProxyAgent({ ...pool, connect: tls, requestTls: tls });
}

/** Connections on which an answer had come before they failed: they were in use a second time. */
const usedBefore = new WeakSet<Error>();

/** Undici's own connector, which also notes of a failing connection whether it had served before. */
function connectorOf(options: HttpOptions): Connector.connector {
  const connect = buildConnector({ timeout: options.connectMs, ...(options.ca === undefined ? {} : { ca: options.ca }) });
  return (target, done) =>
    connect(target, (...result) => {
      const [, socket] = result;
      socket?.on('error', (error) => {
        if (socket.bytesRead > 0) usedBefore.add(error);
      });
      done(...result);
    });
}

interface HttpCallOptions {
  readonly sink: ExchangeSink;
  readonly settle: () => void;
  /** How long the head of the answer may take to arrive; 0 where the request itself may take longer. */
  readonly waitMs: number;
}

class HttpCall implements Exchange, Dispatcher.DispatchHandler {
  readonly #sink: ExchangeSink;
  readonly #settle: () => void;
  /** Undici begins to wait anew with every byte of a head; an engine that drips it would be waited for without end. */
  #deadline: NodeJS.Timeout | undefined;
  #late = false;
  /** Forgotten once the answer begins, and with it the request's body. */
  #dispatch: ((handler: Dispatcher.DispatchHandler) => void) | undefined;
  #tries = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted = false;
  #done = false;
  /** The sink does not keep up. */
  #waits = false;

  constructor({ sink, settle, waitMs }: HttpCallOptions, dispatch: (handler: Dispatcher.DispatchHandler) => void) {
    this.#sink = sink;
    this.#settle = settle;
    this.#dispatch = dispatch;
    if (waitMs > 0) this.#deadline = setTimeout(() => this.#giveUp(), waitMs).unref();
  }

  #giveUp(): void {
    this.#late = true;
    this.#controller?.abort(new Error('the head of the answer did not arrive in time'));
  }

  start(): void {
    this.#tries += 1;
    this.#dispatch?.(this);
  }

  abort(): void {
    if (this.#done) return;
    this.#aborted = true;
    this.#controller?.abort(new Error('the caller went away'));
  }

  resume(): void {
    this.#waits = false;
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#late) this.#giveUp();
    if (this.#aborted) controller.abort(new Error('the caller went away'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    this.#dispatch = undefined;
    // 1xx is between the engine and us.
    if (status < 200) return;
    clearTimeout(this.#deadline);
    this.#sink.head(status, flatHeaders(controller.rawHeaders));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const flowing = this.#sink.data(chunk);
    if (!flowing) this.#waits = true;
    const full = endsTurn(chunk.length, this.#nextTurn);
    if (!flowing || full) controller.pause();
  }

  readonly #nextTurn = (): void => {
    if (!this.#waits && !this.#done) this.#controller?.resume();
  };

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#finish();
    this.#sink.end(flatHeaders(controller.rawTrailers));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#done) return;
    if (this.#mayRepeat(error)) {
      this.start();
      return;
    }
    this.#finish();
    this.#sink.fail(this.#late && !this.#aborted ? { kind: 'timeout', message: error.message } : failureOf(error, this.#aborted));
  }

  /** An idle connection may be closed by the engine at the moment it is used again: then the engine has not seen the request. */
  #mayRepeat(error: Error): boolean {
    return (
      this.#dispatch !== undefined &&
      this.#tries === 1 &&
      !this.#aborted &&
      !this.#late &&
      (usedBefore.has(error) || isReusedSocketError(error))
    );
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    clearTimeout(this.#deadline);
    this.#settle();
  }
}

/** Undici also uses this class for answers it does not understand; those are answers. */
const CLOSED = new Set(['closed', 'other side closed']);

function isReusedSocketError(error: Error): boolean {
  return error instanceof errors.SocketError && CLOSED.has(error.message) && (error.socket?.bytesRead ?? 0) > 0;
}
