import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { nodeHttp } from '../../base/node-http.ts';
import { upstreamAddress } from '../../calls/address.ts';
import { failureError } from '../../calls/failure.ts';
import { downstreamHeaders, upstreamHeaders, upstreamQuery, withoutHeader } from '../../calls/headers.ts';
import type { Recorder } from '../../calls/recorder.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { Principal } from '../auth/principal.ts';
import type { Target } from '../door/target.ts';
import type { Gateway } from '../gateway.ts';
import { openRaw, oursOf, rawDeployment } from './raw.ts';

/** A caller who wants a WebSocket to an engine. */
export interface SpliceRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the caller sent behind its request. */
  readonly head: Buffer;
  readonly runId: RunId;
  readonly target: Target;
  readonly principal: Principal;
}

/** Joins the caller's connection with one to the engine. Its frames are not read: the receipt holds their bytes' digest. */
export function handleSplice(gateway: Gateway, call: SpliceRequest, fail: (error: unknown) => void): void {
  const { request, socket, runId, target } = call;
  const deployment = rawDeployment(gateway, target);
  const { admitted, recorder } = openRaw(gateway, call, deployment, 'splice');
  const { splice } = admitted;
  if (splice === undefined) {
    const error = new AbpError('upgrade_required', `${deployment.engine.name} has no WebSocket form.`);
    recorder.refused(error);
    throw error;
  }
  recorder.dispatched();
  const ours = oursOf(gateway);
  const exchange = splice(
    {
      ...upstreamAddress(deployment, request.rawHeaders, `${target.path}${upstreamQuery(target.query, deployment, ours)}`),
      headers: upstreamHeaders(request.rawHeaders, deployment, ours),
      silenceMs: deployment.silenceMs,
    },
    {
      open: (headers, upstream) => join({ call, upstream, headers, recorder }),
      refuse: (status, headers, body) => {
        const response = { status, sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length };
        const error = { code: 'engine_failed', message: `the engine answered ${status}` };
        recorder.firstByte(status);
        recorder.close({ status: 'failed', reason: 'engine_error', error, response, eventCount: 1 });
        const kept = withoutHeader(downstreamHeaders(headers), 'content-length');
        socket.end(Buffer.concat([headText(status, [...kept, 'Content-Length', String(body.length), 'Connection', 'close'], runId), body]));
      },
      fail: (failure) => {
        const error = failureError(failure, deployment);
        const gone = failure.kind === 'aborted';
        const known = gone ? null : { code: error.code, message: error.message };
        recorder.close({
          status: gone ? 'cancelled' : 'failed',
          reason: gone ? 'client_closed' : failure.kind,
          error: known,
          response: null,
          eventCount: 0,
        });
        if (!gone) fail(error);
      },
    },
  );
  socket.once('close', () => exchange.abort());
}

interface Joined {
  readonly call: SpliceRequest;
  readonly upstream: Duplex;
  readonly headers: readonly string[];
  readonly recorder: Recorder;
}

/** Both ends as one; the first that ends or breaks takes the other with it. */
function join({ call, upstream, headers, recorder }: Joined): void {
  const { socket, head, runId } = call;
  const hash = createHash('sha256');
  let bytes = 0;
  recorder.firstByte(101);
  socket.write(headText(101, [...downstreamHeaders(headers), 'Connection', 'Upgrade', 'Upgrade', 'websocket'], runId));
  if (head.length > 0) upstream.write(head);
  upstream.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  upstream.pipe(socket);
  socket.pipe(upstream);
  let over = false;
  const end = (error: string | null) => (): void => {
    if (over) return;
    over = true;
    recorder.lastByte();
    recorder.close({
      status: error === null ? 'completed' : 'failed',
      reason: error,
      error: error === null ? null : { code: 'engine_failed', message: 'the connection to the engine broke' },
      response: { status: 101, sha256: hash.digest('hex'), bytes },
      eventCount: 0,
    });
    socket.destroy();
    upstream.destroy();
  };
  upstream.once('error', end('broken'));
  socket.once('error', end(null));
  upstream.once('close', end(null));
  socket.once('close', end(null));
}

/** Status line and headers; from here on the connection is ours to write. */
function headText(status: number, headers: readonly string[], runId: RunId): Buffer {
  const lines = [...headers, 'X-ABP-Run-Id', runId].map((item, at) => (at % 2 === 0 ? `${item}: ` : `${item}\r\n`));
  return Buffer.from(`HTTP/1.1 ${status} ${nodeHttp.STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`, 'latin1');
}
