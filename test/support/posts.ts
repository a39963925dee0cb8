import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request that a receiver got. */
export interface Posted {
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  readonly bytes: Buffer;
}

/** A server that takes posts and remembers them. */
export interface PostReceiver {
  readonly url: string;
  readonly posts: readonly Posted[];
  /** The status of the answers from now on. */
  answer(status: number): void;
}

/** Starts one; it ends with the test. */
export async function startReceiver(): Promise<PostReceiver> {
  const { close, ...receiver } = await openReceiver();
  onTestFinished(close);
  return receiver;
}

/** Starts one that ends when it is closed. */
export async function openReceiver(): Promise<PostReceiver & { close(): void }> {
  const posts: Posted[] = [];
  let status = 200;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      posts.push({ path: request.url ?? '', headers: request.headers, body: bytes.toString('utf8'), bytes });
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // a listening TCP server has one
    posts,
    answer: (next) => {
      status = next;
    },
  };
}
