import { type Dispatcher, Pool } from 'undici';
import { spread } from './harness.ts';
import { trafficOf } from './traffic.ts';

/** A bounded burst of calls. */
export interface Order {
  readonly url: string;
  readonly traffic: string;
  readonly count: number;
  readonly concurrency: number;
  /** Arrivals per second until all connections are in use; at once unless told. */
  readonly arrivals?: number;
  /** `/v1/messages` unless told. */
  readonly path?: string;
  /** Names and values that go along with those of the caller's SDK. */
  readonly headers?: readonly string[];
}

export interface Burst {
  readonly seconds: number;
  /** Medians in microseconds, from the send of a call. */
  readonly firstByte: number;
  readonly lastByte: number;
  readonly bytes: number;
  /** Calls whose answer had begun before the first one was complete. */
  readonly together: number;
}

const HEADERS = [
  ...['content-type', 'application/json', 'accept', 'application/json', 'user-agent', 'anthropic-typescript 1.8.0'],
  ...['x-api-key', 'sk-bench', 'anthropic-version', '2023-06-01', 'x-stainless-lang', 'js', 'x-stainless-runtime', 'node'],
];

class Call implements Dispatcher.DispatchHandler {
  readonly started = performance.now();
  readonly #done: (error: Error | undefined, call: Call) => void;
  #status = 0;
  firstByte = 0;
  lastByte = 0;
  bytes = 0;

  constructor(done: (error: Error | undefined, call: Call) => void) {
    this.#done = done;
  }

  onRequestStart(): void {
    // undici asks for it; a burst is never aborted.
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.bytes === 0) this.firstByte = performance.now() - this.started;
    this.bytes += chunk.length;
  }

  onResponseEnd(): void {
    this.lastByte = performance.now() - this.started;
    this.#done(this.#status === 200 ? undefined : new Error(`the proxy answered ${this.#status}`), this);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#done(error, this);
  }
}

async function burst(order: Order): Promise<Burst> {
  const { url, traffic, count, concurrency, arrivals = Number.POSITIVE_INFINITY, path = '/v1/messages', headers = [] } = order;
  const { request } = trafficOf(traffic);
  const pool = new Pool(url, { connections: concurrency, pipelining: 1 });
  const calls: Call[] = [];
  const started = performance.now();
  let sent = 0;
  await new Promise<void>((resolve, reject) => {
    const next = (): void => {
      if (sent === count) return;
      sent += 1;
      pool.dispatch({ path, method: 'POST', headers: [...HEADERS, ...headers], body: request }, new Call(done));
    };
    const done = (error: Error | undefined, call: Call): void => {
      if (error !== undefined) reject(error);
      else if (calls.push(call) === count) resolve();
      else next();
    };
    for (let lane = 0; lane < Math.min(concurrency, count); lane += 1) {
      const delay = (lane / arrivals) * 1000;
      if (delay === 0) next();
      else setTimeout(next, delay);
    }
  });
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  const firstEnd = Math.min(...calls.map((call) => call.started + call.lastByte));
  return {
    seconds,
    firstByte: spread(calls.map((call) => call.firstByte * 1000)).median,
    lastByte: spread(calls.map((call) => call.lastByte * 1000)).median,
    bytes: calls.reduce((sum, call) => sum + call.bytes, 0),
    together: calls.filter((call) => call.started + call.firstByte <= firstEnd).length,
  };
}

process.on('message', (order: Order) => void burst(order).then((result) => process.send?.(result)));
process.once('disconnect', () => process.exit());
