import type { ServerResponse } from 'node:http';
import { finished, Readable } from 'node:stream';
import { Reply } from '../reply.ts';
import type { Admitted } from './front-door.ts';
import { jsonInSlices } from './json-in-slices.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers with the value that a route returned. A stream that fails is told to `fail`: before its first byte there can still be an error. */
export function sendReply({ request, response, runId }: Admitted, result: unknown, fail: (error: unknown) => void): void {
  const { status, headers, body } = result instanceof Reply ? result : new Reply(200, result);
  response.statusCode = status;
  response.setHeader('X-ABP-Run-Id', runId);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (!(body instanceof Readable)) {
    sendWhole(response, status, body, fail);
    return;
  }
  if (request.method === 'HEAD') {
    // Nobody reads what the stream would say, and some streams never end.
    body.destroy();
    response.end();
    return;
  }
  sendStream(response, body, fail);
}

function sendWhole(response: ServerResponse, status: number, body: unknown, fail: (error: unknown) => void): void {
  const isReady = typeof body === 'string' || body instanceof Uint8Array;
  if (isReady || body === undefined) {
    sendBytes(response, status, [isReady ? body : '']);
    return;
  }
  if (!response.hasHeader('content-type')) response.setHeader('content-type', JSON_TYPE);
  const written = jsonInSlices(body);
  if (written instanceof Promise) written.then((parts) => sendBytes(response, status, parts)).catch(fail);
  else sendBytes(response, status, [written]);
}

function sendBytes(response: ServerResponse, status: number, parts: readonly (string | Uint8Array)[]): void {
  // The reader may have left while the answer was written.
  if (response.destroyed) return;
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  if (status !== 204) response.setHeader('content-length', length);
  for (const part of parts.slice(0, -1)) response.write(part);
  response.end(parts.at(-1));
}

/** Relays a stream. Its headers go out with its first chunk. */
function sendStream(response: ServerResponse, stream: Readable, fail: (error: unknown) => void): void {
  finished(stream, { writable: false }, (error) => {
    // The reader left, and the stream was ended for that.
    if (response.closed) return;
    if (error !== null && error !== undefined) fail(error);
  });
  response.once('close', () => stream.destroy());
  stream.pipe(response);
}
