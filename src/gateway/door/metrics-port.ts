import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nodeHttp } from '../../base/builtin/http.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Reply } from '../reply.ts';

export interface MetricsPort {
  readonly url: string;
  close(): Promise<void>;
}

/** Enough for a scraper, which sends a few headers and no body. */
const REQUEST_MS = 10_000;
const HEADER_BYTES = 8 * 1024;

/** A port for `GET /metrics` and nothing else. The operator chooses who reaches it, so it asks for no key. */
export async function openMetricsPort({ host, port }: { host: string; port: number }, answer: () => Promise<Reply>): Promise<MetricsPort> {
  const server = nodeHttp.createServer({ requestTimeout: REQUEST_MS, maxHeaderSize: HEADER_BYTES }, (request, response) => {
    serve(request, response, answer).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: Error): void =>
      reject(new AbpError('invalid_request', `Cannot serve metrics on ${host}:${port}: ${error.message}`));
    server.once('error', refuse);
    server.listen({ host, port }, resolve);
  });
  const address = server.address() as AddressInfo; // a TCP server has one once it listens
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, answer: () => Promise<Reply>): Promise<void> {
  const [path] = (request.url ?? '/').split('?', 1);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (path !== '/metrics' || !isRead) {
    response.writeHead(path === '/metrics' ? 405 : 404, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('This port serves GET /metrics and nothing else.\n');
    return;
  }
  const { status, headers, body } = await answer();
  response.writeHead(status, headers);
  response.end(request.method === 'HEAD' ? undefined : String(body));
}
