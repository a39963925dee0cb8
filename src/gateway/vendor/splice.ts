import type { Duplex } from 'node:stream';
import { nodeHttp } from '../../base/builtin/http.ts';
import { withoutHeader } from '../../calls/headers.ts';
import { callSplice } from '../../calls/unread/splice.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { Gateway } from '../gateway.ts';
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
    join: (headers) => {
      socket.write(headText(101, [...headers, 'Connection', 'Upgrade', 'Upgrade', 'websocket'], runId));
      if (head.length > 0) socket.unshift(head);
      return socket;
    },
    refuse: (status, headers, body) => {
      const kept = withoutHeader(headers, 'content-length');
      socket.end(Buffer.concat([headText(status, [...kept, 'Content-Length', String(body.length), 'Connection', 'close'], runId), body]));
    },
    fail,
  });
  socket.once('close', () => exchange.abort());
}

/** Status line and headers; from here on the connection is ours to write. */
function headText(status: number, headers: readonly string[], runId: RunId): Buffer {
  const lines = [...headers, 'X-ABP-Run-Id', runId].map((item, at) => (at % 2 === 0 ? `${item}: ` : `${item}\r\n`));
  return Buffer.from(`HTTP/1.1 ${status} ${nodeHttp.STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`, 'latin1');
}
