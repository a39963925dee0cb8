import { connect, type Socket } from 'node:net';
import { spread } from './harness.ts';
import { MessageReader } from './message-reader.ts';
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

/** One call that is over, in milliseconds. */
interface Call {
  readonly started: number;
  readonly firstByte: number;
  readonly lastByte: number;
  readonly bytes: number;
}

/** A kept-alive connection that makes one call after the other. */
class Lane {
  readonly #socket: Socket;
  readonly #request: Buffer;
  #reader = new MessageReader();
  #started = 0;
  #firstByte = 0;

  constructor({ hostname, port }: URL, request: Buffer, onEnd: (lane: Lane, call: Call) => void, onError: (error: Error) => void) {
    this.#request = request;
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('error', onError);
    this.#socket.on('close', () => onError(new Error('the proxy closed the connection')));
    this.#socket.on('data', (bytes: Buffer) => {
      const whole = this.#reader.push(bytes);
      if (this.#firstByte === 0 && this.#reader.body > 0) this.#firstByte = performance.now() - this.#started;
      if (!whole) return;
      if (!this.#reader.first.includes(' 200 ')) onError(new Error(`the proxy answered ${this.#reader.first}`));
      else onEnd(this, this.#ended());
    });
  }

  call(): void {
    this.#reader = new MessageReader();
    this.#started = performance.now();
    this.#firstByte = 0;
    this.#socket.write(this.#request);
  }

  end(): void {
    this.#socket.removeAllListeners('close').destroy();
  }

  #ended(): Call {
    return {
      started: this.#started,
      firstByte: this.#firstByte,
      lastByte: performance.now() - this.#started,
      bytes: this.#reader.body,
    };
  }
}

function requestOf({ url, traffic, path = '/v1/messages', headers = [] }: Order): Buffer {
  const { request } = trafficOf(traffic);
  const all = ['host', new URL(url).host, ...HEADERS, ...headers, 'content-length', String(request.length)];
  const lines = all.map((item, at) => (at % 2 === 0 ? `${item}: ` : `${item}\r\n`));
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), request]);
}

async function burst(order: Order): Promise<Burst> {
  const { url, count, concurrency, arrivals = Number.POSITIVE_INFINITY } = order;
  const request = requestOf(order);
  const calls: Call[] = [];
  const lanes: Lane[] = [];
  const started = performance.now();
  let sent = 0;
  await new Promise<void>((resolve, reject) => {
    const next = (lane: Lane): void => {
      if (sent === count) return;
      sent += 1;
      lane.call();
    };
    const onEnd = (lane: Lane, call: Call): void => {
      if (calls.push(call) === count) resolve();
      else next(lane);
    };
    const open = (): void => {
      const lane = new Lane(new URL(url), request, onEnd, reject);
      lanes.push(lane);
      next(lane);
    };
    for (let lane = 0; lane < Math.min(concurrency, count); lane += 1) {
      const delay = (lane / arrivals) * 1000;
      if (delay === 0) open();
      else setTimeout(open, delay);
    }
  });
  const seconds = (performance.now() - started) / 1000;
  for (const lane of lanes) lane.end();
  const firstEnd = Math.min(...calls.map((call) => call.started + call.lastByte));
  return {
    seconds,
    firstByte: spread(calls.map((call) => call.firstByte * 1000)).median,
    lastByte: spread(calls.map((call) => call.lastByte * 1000)).median,
    bytes: calls.reduce((sum, call) => sum + call.bytes, 0),
    together: calls.filter((call) => call.started + call.firstByte <= firstEnd).length,
  };
}

process.on('message', (order: Order) => {
  burst(order).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      process.stderr.write(`load: ${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.once('disconnect', () => process.exit());
