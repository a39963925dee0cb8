import type { Duplex } from 'node:stream';
import { nodeHttp } from '../../base/builtin/http.ts';
import { withoutHeader } from '../../calls/headers.ts';
import { callSplice } from '../../calls/unread/splice.ts';
import type { Gateway } from '../gateway.ts';
import { servedBy } from './answer.ts';
import { type RawRequest, unreadCall } from './raw.ts';

/** A caller who wants a WebSocket to an engine. */
export interface SpliceRequest extends RawRequest {
  readonly socket: Duplex;
  /** The first bytes that the caller sent behind its request. */
  readonly head: Buffer;
}

/** Takes the connection out of HTTP once the engine agrees. */
export function handleSplice(gateway: Gateway, one: SpliceRequest, fail: (error: unknown) => void): void {
  const { socket, head, runId } = one;
  const exchange = callSplice(gateway.calls, unreadCall(gateway, one), {
    join: (headers, deployment, tries) => {
      const upgrade = ['Connection', 'Upgrade', 'Upgrade', 'websocket'];
      socket.write(headText(101, [...headers, ...upgrade, 'X-ABP-Run-Id', runId, ...servedBy(deployment, tries)]));
      if (head.length > 0) socket.unshift(head);
      return socket;
    },
    refuse: (status, headers, { body, deployment, tries }) => {
      const kept = [...withoutHeader(headers, 'content-length'), 'Content-Length', String(body.length), 'Connection', 'close'];
      socket.end(Buffer.concat([headText(status, [...kept, 'X-ABP-Run-Id', runId, ...servedBy(deployment, tries)]), body]));
    },
    fail,
  });
  socket.once('close', () => exchange.abort());
}

/** Status line and headers; from here on the connection is ours to write. */
function headText(status: number, headers: readonly string[]): Buffer {
  const lines = headers.map((item, at) => (at % 2 === 0 ? `${item}: ` : `${item}\r\n`));
  return Buffer.from(`HTTP/1.1 ${status} ${nodeHttp.STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`, 'latin1');
}
