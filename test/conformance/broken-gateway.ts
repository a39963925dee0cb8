import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { call } from '../support/http-call.ts';

/** What a gateway does wrong, between a server that does it right and the caller. */
export interface Fault {
  readonly request?: (body: string) => string;
  readonly answer?: (text: string, status: number) => string;
  readonly status?: (status: number) => number;
  readonly headers?: (headers: Record<string, string>) => Record<string, string>;
}

export interface BrokenGateway {
  readonly url: string;
  break(fault: Fault): void;
  close(): Promise<void>;
}

/** A gateway in front of a good one, with a fault of choice. */
export async function startBrokenGateway(goodUrl: string): Promise<BrokenGateway> {
  let fault: Fault = {};
  const server: Server = createServer((request, response) => {
    // Where the good one breaks off before it answers, so does this one.
    forward(goodUrl, fault, request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server has an address object
  return {
    url: `http://127.0.0.1:${port}`,
    break: (next) => {
      fault = next;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const KEPT = ['content-type', 'x-abp-run-id', 'retry-after'];

async function forward(goodUrl: string, fault: Fault, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await buffer(request)).toString('utf8');
  const headers = Object.entries(request.headers)
    .filter(([name]) => name.startsWith('x-abp-') || name === 'content-type')
    .flatMap(([name, value]) => [name, String(value)]);
  const vendor = !request.url?.startsWith('/v1/receipts') && !request.url?.startsWith('/v1/backends');
  const answer = await call(`${goodUrl}${request.url}`, {
    method: request.method ?? 'GET',
    headers,
    body: vendor ? (fault.request?.(body) ?? body) : body,
  });
  const kept = Object.fromEntries(
    KEPT.flatMap((name) => (answer.headers[name] === undefined ? [] : [[name, String(answer.headers[name])]])),
  );
  const text = answer.body.toString('utf8');
  const broken = vendor ? (fault.answer?.(text, answer.status) ?? text) : text;
  response.writeHead(
    vendor ? (fault.status?.(answer.status) ?? answer.status) : answer.status,
    vendor ? (fault.headers?.(kept) ?? kept) : kept,
  );
  if (!answer.complete) response.destroy();
  else response.end(broken);
}
