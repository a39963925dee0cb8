import type { ServerResponse } from 'node:http';
import { finished, Readable } from 'node:stream';
import { Reply } from '../reply.ts';
import type { Admitted } from './front-door.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers with the value that a route returned. A stream that fails is told to `fail`: before its first byte there can still be an error. */
export function sendReply({ request, response, runId }: Admitted, result: unknown, fail: (error: unknown) => void): void {
  const { status, headers, body } = result instanceof Reply ? result : new Reply(200, result);
  response.statusCode = status;
  response.setHeader('X-ABP-Run-Id', runId);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (!(body instanceof Readable)) {
    sendWhole(response, status, body);
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

function sendWhole(response: ServerResponse, status: number, body: unknown): void {
  const isReady = typeof body === 'string' || body instanceof Uint8Array;
  const bytes = isReady ? body : body === undefined ? '' : JSON.stringify(body);
  if (!isReady && body !== undefined && !response.hasHeader('content-type')) response.setHeader('content-type', JSON_TYPE);
  if (status !== 204) response.setHeader('content-length', Buffer.byteLength(bytes));
  response.end(bytes);
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
