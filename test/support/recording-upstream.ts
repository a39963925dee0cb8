import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** One request as it came over the wire. */
export interface RecordedRequest {
  /** `POST /v1/messages HTTP/1.1` */
  readonly line: string;
  /** Names and values, in order, as written. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** Number of its connection, from 1. */
  readonly connection: number;
}

/** Answers one request by writing raw bytes to the socket. */
export type Script = (socket: Socket, request: RecordedRequest) => void | Promise<void>;

/** An engine that records every byte and answers with any. */
export interface RecordingUpstream {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  readonly sockets: readonly Socket[];
  /** The script of the next requests. */
  answer(script: Script): void;
  close(): Promise<void>;
}

/** The bytes of an answer with a `Content-Length`. */
export function whole(body: string | Buffer, options: { status?: string; headers?: readonly string[] } = {}): Buffer {
  const bytes = Buffer.from(body);
  const head = [
    `HTTP/1.1 ${options.status ?? '200 OK'}`,
    ...(options.headers ?? ['content-type: application/json']),
    `content-length: ${bytes.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}

/** The head of an answer that comes in chunks. */
export function chunkedHead(headers: readonly string[] = ['content-type: text/event-stream'], status = '200 OK'): string {
  return `HTTP/1.1 ${status}\r\n${headers.map((line) => `${line}\r\n`).join('')}transfer-encoding: chunked\r\n\r\n`;
}

/** One chunk of it; an empty one would end the answer. */
export function chunk(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/** The end of it, with trailers. */
export function lastChunk(trailers: readonly string[] = []): string {
  return `0\r\n${trailers.map((line) => `${line}\r\n`).join('')}\r\n`;
}

export async function startUpstream(): Promise<RecordingUpstream> {
  const requests: RecordedRequest[] = [];
  const sockets: Socket[] = [];
  let script: Script = (socket) => {
    socket.write(whole('{}'));
  };
  const server = createServer((socket) => {
    const connection = sockets.push(socket);
    // A test that cuts the line makes the other side's writes fail; that is no fault here.
    socket.on('error', () => undefined);
    readRequests(socket, (request) => {
      const recorded = { ...request, connection };
      requests.push(recorded);
      void script(socket, recorded);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    sockets,
    answer: (next) => {
      script = next;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Cuts requests with a `Content-Length` out of the bytes of a connection. */
function readRequests(socket: Socket, onRequest: (request: Omit<RecordedRequest, 'connection'>) => void): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    for (let parsed = parseRequest(rest); parsed !== undefined; parsed = parseRequest(rest)) {
      rest = rest.subarray(parsed.end);
      onRequest(parsed.request);
    }
  });
}

function parseRequest(data: Buffer): { request: Omit<RecordedRequest, 'connection'>; end: number } | undefined {
  const headEnd = data.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [line = '', ...lines] = data.toString('latin1', 0, headEnd).split('\r\n');
  const headers = lines.map((text): [string, string] => [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1).trim()]);
  const length = Number(headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? 0);
  const end = headEnd + 4 + length;
  if (data.length < end) return undefined;
  return { request: { line, headers, body: Buffer.from(data.subarray(headEnd + 4, end)) }, end };
}
