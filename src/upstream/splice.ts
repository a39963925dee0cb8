import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Exchange, SpliceSink } from './exchange.ts';
import { failureOf } from './failure.ts';

/** A refusal is an error message; more of it is not kept. */
const REFUSAL_BYTES = 64 * 1024;

/** One request to leave HTTP. */
export class SpliceCall implements Pick<Exchange, 'abort'>, Dispatcher.DispatchHandler {
  readonly #sink: SpliceSink;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted = false;
  #status = 0;
  #headers: readonly string[] = [];
  readonly #body: Buffer[] = [];
  #bytes = 0;

  constructor(sink: SpliceSink) {
    this.#sink = sink;
  }

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(new Error('the caller went away'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(new Error('the caller went away'));
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController, _status: number, _headers: unknown, socket: Duplex): void {
    this.#sink.open(flatHeaders(controller.rawHeaders), socket);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
    this.#headers = flatHeaders(controller.rawHeaders);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= REFUSAL_BYTES) this.#body.push(chunk);
  }

  onResponseEnd(): void {
    this.#sink.refuse(this.#status, this.#headers, Buffer.concat(this.#body));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#sink.fail(failureOf(error, this.#aborted));
  }
}

/** Engines write header values in latin1; that is how they are read and written back. */
export function flatHeaders(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((item) => (typeof item === 'string' ? item : item.toString('latin1')));
}
