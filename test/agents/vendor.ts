import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request that reached a vendor. */
export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bodySha256: string;
  readonly body: string;
}

/** A vendor on this machine: it writes down what arrives and lets `sim` answer. */
export interface Vendor {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  close(): void;
}

/** Starts one. `sim` is the address of the engine that answers; `strip` and `add` make a path of this vendor one of that engine. */
export async function startVendor(sim: string, { strip = '', add = '' } = {}): Promise<Vendor> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    void answered(request, response, (body) => {
      const { method = '', url: path = '', headers } = request;
      arrived.push({ method, path, headers, bodySha256: createHash('sha256').update(body).digest('hex'), body: body.toString('utf8') });
      return `${sim}${add}${path.startsWith(strip) ? path.slice(strip.length) : path}`;
    }).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    arrived,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answered(request: IncomingMessage, response: ServerResponse, note: (body: Buffer) => string): Promise<void> {
  const body = await buffer(request);
  const { 'content-type': type = 'application/json', 'anthropic-version': version } = request.headers;
  const answer = await fetch(note(body), {
    method: request.method ?? 'GET',
    headers: { 'content-type': type, ...(typeof version === 'string' && { 'anthropic-version': version }) },
    ...(body.length > 0 && { body }),
  });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' });
  response.end(Buffer.from(await answer.arrayBuffer()));
}
