import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { AbpError } from '../../contract/errors.ts';
import type { Exchange } from '../../upstream/exchange.ts';
import type { CallContext } from '../context.ts';
import { failureError } from '../failure.ts';
import { downstreamHeaders } from '../headers.ts';
import type { Recorder } from '../recorder.ts';
import { openUnread, type UnreadCall } from './unread-call.ts';

/** The connection of a caller who wants a WebSocket. Exactly one of the three is called. */
export interface SpliceCaller {
  /** The engine agrees; the caller is told so, and its connection is handed out. */
  join(headers: readonly string[]): Duplex;
  /** The engine answered like any HTTP server. */
  refuse(status: number, headers: readonly string[], body: Buffer): void;
  fail(error: AbpError): void;
}

/** Joins the caller's connection with one to the engine. Its frames are not read: the receipt holds their bytes' digest. */
export function callSplice(context: CallContext, call: UnreadCall, caller: SpliceCaller): Pick<Exchange, 'abort'> {
  const { admitted, recorder, deployment, request } = openUnread(context, call, 'splice');
  const { splice } = admitted;
  if (splice === undefined) {
    const error = new AbpError('upgrade_required', `${deployment.engine.name} has no WebSocket form.`);
    recorder.refused(error);
    throw error;
  }
  recorder.dispatched();
  return splice(request, {
    open: (headers, upstream) => {
      recorder.firstByte(101);
      joined(caller.join(downstreamHeaders(headers)), upstream, recorder);
    },
    refuse: (status, headers, body) => {
      const response = { status, sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length };
      const error = { code: 'engine_failed', message: `the engine answered ${status}` };
      recorder.firstByte(status);
      recorder.close({ status: 'failed', reason: 'engine_error', error, response, eventCount: 1 });
      caller.refuse(status, downstreamHeaders(headers), body);
    },
    fail: (failure) => {
      const error = failureError(failure, deployment);
      const gone = failure.kind === 'aborted';
      recorder.close({
        status: gone ? 'cancelled' : 'failed',
        reason: gone ? 'client_closed' : failure.kind,
        error: gone ? null : { code: error.code, message: error.message },
        response: null,
        eventCount: 0,
      });
      if (!gone) caller.fail(error);
    },
  });
}

/** How long an end may still talk after the other one has hung up. A WebSocket has no half: an end that stays would hold the call for ever. */
const LINGER_MS = 2000;

/** Both ends as one; the first that ends or breaks takes the other with it. */
function joined(socket: Duplex, upstream: Duplex, recorder: Recorder): void {
  const hash = createHash('sha256');
  let bytes = 0;
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
  const leave = (): void => void setTimeout(end(null), LINGER_MS).unref();
  upstream.once('end', leave);
  socket.once('end', leave);
  upstream.once('error', end('broken'));
  socket.once('error', end(null));
  upstream.once('close', end(null));
  socket.once('close', end(null));
}
