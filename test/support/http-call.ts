import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';

/** An answer with everything the wire said. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Names and values, flat, in order. */
  readonly rawHeaders: readonly string[];
  readonly rawTrailers: readonly string[];
  readonly body: Buffer;
  /** False when the connection broke before the answer was whole. */
  readonly complete: boolean;
}

export interface CallOptions {
  readonly method?: string;
  /** Flat list of names and values; `Host` is added when it is missing. */
  readonly headers?: readonly string[];
  readonly body?: string | Buffer;
}

/** One call over a connection of its own, with headers exactly as given. */
export async function call(url: string, options: CallOptions = {}): Promise<WireAnswer> {
  const response = await send(url, options);
  const chunks: Buffer[] = [];
  response.on('data', (data: Buffer) => chunks.push(data));
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    // What a broken connection leaves is judged by `complete`.
    response.on('error', () => resolve());
  });
  const { statusCode = 0, headers, rawHeaders, rawTrailers, complete } = response;
  return { status: statusCode, headers, rawHeaders, rawTrailers, body: Buffer.concat(chunks), complete };
}

/** The answer's head; its body is unread. */
export async function send(url: string, options: CallOptions = {}): Promise<http.IncomingMessage> {
  const { host, origin } = new URL(url);
  const body = Buffer.from(options.body ?? '');
  const given = options.headers ?? [];
  const names = given.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  const headers = [
    ...(names.includes('host') ? [] : ['Host', host]),
    ...given,
    ...(body.length === 0 || names.includes('transfer-encoding') ? [] : ['Content-Length', String(body.length)]),
  ];
  // The path as written: URL would resolve dots and double slashes.
  const path = url.slice(origin.length) || '/';
  const request = http.request(origin, { method: options.method ?? 'GET', path, headers, agent: false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]; // the event's one argument
  // A server that answers before it has the whole body may close the connection; the answer counts.
  request.on('error', () => undefined);
  return response;
}

/** Writes raw bytes and returns all that comes back until the connection closes. */
export async function rawCall(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (data) => chunks.push(data));
  // A reset after the answer is as good as an end.
  socket.on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** A JSON body sent with POST. */
export async function post(url: string, body: unknown, headers: readonly string[] = []): Promise<WireAnswer> {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return await call(url, { method: 'POST', headers: ['content-type', 'application/json', ...headers], body: text });
}
