import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, type Dispatcher } from 'undici';

/**
 * The least a proxy of this kind can do: `node:http` in front, undici's `dispatch` behind, bodies and headers as they come. It knows
 * nothing of dialects, keys, limits or receipts. Started by a bench with the origin of the upstream.
 */
const origin = process.argv[2] ?? '';
const agent = new Agent({ connections: 4096, pipelining: 1, keepAliveTimeout: 30_000 });
const NOT_FORWARDED = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding']);

function forwarded(raw: readonly string[]): string[] {
  const out: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    if (!NOT_FORWARDED.has((raw[at] ?? '').toLowerCase())) out.push(raw[at] ?? '', raw[at + 1] ?? '');
  }
  return out;
}

class Relay implements Dispatcher.DispatchHandler {
  readonly #response: http.ServerResponse;

  constructor(response: http.ServerResponse) {
    this.#response = response;
  }

  onRequestStart(): void {
    // undici asks for it; the floor never aborts a call.
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    const raw = Array.isArray(controller.rawHeaders) ? controller.rawHeaders : [];
    this.#response.writeHead(status, forwarded(raw.map((item) => (typeof item === 'string' ? item : item.toString('latin1')))));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.write(chunk)) return;
    controller.pause();
    this.#response.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    this.#response.end();
  }

  onResponseError(): void {
    this.#response.destroy();
  }
}

const server = http.createServer({ noDelay: true }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('end', () => {
    const method = request.method as Dispatcher.HttpMethod; // the caller's, checked by the HTTP parser
    const body = chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks);
    agent.dispatch({ origin, path: request.url ?? '/', method, headers: forwarded(request.rawHeaders), body }, new Relay(response));
  });
});

server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => process.send?.((server.address() as AddressInfo).port)); // a TCP server has one once it listens
process.once('disconnect', () => process.exit());
