import { AbpError } from '../contract/errors.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Exchange, ExchangeFailure, ExchangeRequest, ExchangeSink } from '../upstream/exchange.ts';
import type { Answer } from './answer.ts';
import type { Deployment } from './deployment.ts';
import { downstreamHeaders, headerOf } from './headers.ts';
import type { Recorder } from './recorder.ts';
import { Watch } from './watch.ts';

/** A call whose bytes pass unchanged. */
export interface RelayOptions {
  readonly deployment: Deployment;
  readonly request: ExchangeRequest;
  readonly dialect: Dialect | undefined;
  readonly answer: Answer;
  readonly recorder: Recorder;
  /** A recorder of a finished run failed to read its answer: a fault to log, never the caller's. */
  readonly onFault: (error: unknown) => void;
}

/** Sends the request and relays the answer byte for byte, watching on the side. The caller cancels through the returned handle. */
export function relay(options: RelayOptions): Exchange {
  const call = new Relay(options);
  options.recorder.dispatched();
  return call.start();
}

class Relay implements ExchangeSink, Exchange {
  readonly #options: RelayOptions;
  #exchange: Exchange | undefined;
  #watch: Watch | undefined;
  #status = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  start(): Exchange {
    this.#exchange = this.#options.deployment.transport(this.#options.request, this);
    return this;
  }

  abort(): void {
    this.#exchange?.abort();
  }

  resume(): void {
    this.#exchange?.resume();
  }

  head(status: number, headers: readonly string[]): void {
    this.#status = status;
    this.#options.recorder.firstByte(status);
    const contentType = headerOf(headers, 'content-type') ?? '';
    const encoding = (headerOf(headers, 'content-encoding') ?? '').toLowerCase();
    this.#watch = new Watch(this.#options.dialect, contentType, encoding);
    this.#options.answer.head(status, downstreamHeaders(headers));
  }

  data(chunk: Buffer): boolean {
    const flowing = this.#options.answer.write(chunk);
    this.#watch?.chunk(chunk);
    return flowing;
  }

  end(trailers: readonly string[]): void {
    this.#options.recorder.lastByte();
    this.#options.answer.end(trailers);
    const failed = this.#status >= 400;
    this.#settle(failed ? 'failed' : 'completed', failed ? 'engine_error' : null, null);
  }

  fail(failure: ExchangeFailure): void {
    this.#options.recorder.lastByte();
    const { answer, recorder } = this.#options;
    const error = failureError(failure, this.#options.deployment);
    if (failure.kind === 'aborted') {
      this.#settle('cancelled', 'client_closed', null);
    } else if (this.#watch === undefined) {
      recorder.close({
        status: 'failed',
        reason: failure.kind,
        error: { code: error.code, message: error.message },
        response: null,
        eventCount: 0,
      });
      answer.refuse(error);
    } else {
      answer.abandon();
      this.#settle('failed', failure.kind, error);
    }
  }

  /** After the last byte, off the caller's path. */
  #settle(status: 'completed' | 'failed' | 'cancelled', reason: string | null, error: AbpError | null): void {
    const { recorder, onFault } = this.#options;
    const watch = this.#watch;
    const known = error === null ? null : { code: error.code, message: error.message };
    if (watch === undefined) {
      recorder.close({ status, reason, error: known, response: null, eventCount: 0 });
      return;
    }
    setImmediate(() => {
      watch
        .done()
        .then(({ digest, eventCount, observed }) => {
          const broken = observed.error !== undefined && status === 'completed';
          recorder.close({
            status: broken ? 'failed' : status,
            reason: broken ? 'engine_error' : reason,
            error: broken || (status === 'failed' && known === null) ? engineError(observed.error, this.#status) : known,
            response: { ...digest, status: this.#status },
            eventCount,
            observed,
          });
        })
        .catch(onFault);
    });
  }
}

function engineError(message: string | undefined, status: number): { code: string; message: string } {
  return { code: 'engine_failed', message: message ?? `the engine answered ${status}` };
}

function failureError(failure: ExchangeFailure, deployment: Deployment): AbpError {
  const { name, id } = deployment.engine;
  switch (failure.kind) {
    case 'unreachable':
      return new AbpError('E007', `${name} cannot be reached: ${failure.message}`, { backend_id: `engine:${id}`, reason: failure.message });
    case 'timeout':
      return new AbpError('engine_timeout', `${name} did not answer in time`, { backend_id: `engine:${id}` });
    case 'busy':
      return new AbpError('overloaded', `${name}: ${failure.message}`, { backend_id: `engine:${id}` });
    default:
      return new AbpError('engine_failed', `${name} broke off: ${failure.message}`, { backend_id: `engine:${id}` });
  }
}
