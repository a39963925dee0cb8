import { createHash } from 'node:crypto';
import { type Duplex, Transform } from 'node:stream';
import { AbpError } from '../../contract/errors.ts';
import type { Observed } from '../../dialects/dialect.ts';
import type { Exchange, ExchangeFailure, SpliceFilter } from '../../upstream/exchange.ts';
import { failedBefore, type TurnedDown, turnedDown } from '../../upstream/gate.ts';
import type { CallContext } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { failureError } from '../failure.ts';
import { downstreamHeaders, headerOf } from '../headers.ts';
import { type SessionUse, sessionUse } from '../meters/sessions.ts';
import type { Ending, Recorder } from '../recorder.ts';
import { OpenedCall, type UnreadCall, type UnreadTry } from './unread-call.ts';
import { WebSocketReader } from './web-socket-reader.ts';

/** An answer in HTTP instead of a WebSocket, and who gave it. */
interface Refusal {
  readonly body: Buffer;
  readonly deployment: Deployment;
  readonly tries: number;
}

/** The connection of a caller who wants a WebSocket. Exactly one of the three is called. */
export interface SpliceCaller {
  /** The engine agrees; the caller is told so and who it is, and its connection is handed out. */
  join(headers: readonly string[], deployment: Deployment, tries: number): Duplex;
  /** The engine answered like any HTTP server. */
  refuse(status: number, headers: readonly string[], answer: Refusal): void;
  fail(error: AbpError): void;
}

/** Joins the caller's connection with one to the engine. Of its messages those are read that tell what was used; the receipt holds its bytes' digest. */
export function callSplice(context: CallContext, call: UnreadCall, caller: SpliceCaller): Pick<Exchange, 'abort'> {
  const one = new SplicedCall(context, call, caller);
  one.begin();
  return one;
}

/** One connection that leaves HTTP. A deployment that does not agree may be replaced by another. */
class SplicedCall {
  readonly #opened: OpenedCall;
  readonly #caller: SpliceCaller;
  readonly #path: string;
  readonly #query: string;
  #exchange: Pick<Exchange, 'abort'> | undefined;

  constructor(context: CallContext, call: UnreadCall, caller: SpliceCaller) {
    this.#caller = caller;
    this.#path = call.target.path;
    this.#query = call.target.query;
    this.#opened = new OpenedCall(context, call, 'splice', { send: (one) => this.#send(one), fail: (error) => this.#refused(error) });
  }

  begin(): void {
    this.#opened.begin();
  }

  abort(): void {
    this.#opened.leave();
    this.#exchange?.abort();
  }

  #refused(error: unknown): void {
    if (!AbpError.is(error)) throw error;
    this.#caller.fail(error);
  }

  #send(one: UnreadTry): void {
    const { admitted, deployment, request } = one;
    const { recorder } = this.#opened;
    if (admitted.splice === undefined) {
      const error = new AbpError('upgrade_required', `${deployment.engine.name} has no WebSocket form.`);
      recorder.refused(error);
      throw error;
    }
    recorder.dispatched(deployment);
    this.#exchange = admitted.splice(request, {
      open: (headers, upstream, filter) => {
        recorder.firstByte(101);
        const socket = this.#caller.join(downstreamHeaders(headers), deployment, recorder.tries);
        const use = sessionUse(this.#path, this.#query, deployment.engine.dialects);
        joined(socket, upstream, { recorder, filter, ears: use === undefined ? undefined : new Ears(use, headers) });
      },
      refuse: (status, headers, body) => {
        const reason = turnedDown(status, headers);
        if (reason === undefined || !this.#takeOver(reason)) this.#refuse(deployment, { status, headers, body });
      },
      fail: (failure) => {
        const reason = failedBefore(failure);
        if (reason === undefined || !this.#takeOver(reason)) this.#fail(deployment, failure);
      },
    });
  }

  #takeOver(reason: TurnedDown): boolean {
    const next = this.#opened.next(reason);
    if (next !== undefined) this.#send(next);
    return next !== undefined;
  }

  #refuse(deployment: Deployment, { status, headers, body }: { status: number; headers: readonly string[]; body: Buffer }): void {
    const { recorder } = this.#opened;
    const response = { status, sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length };
    const error = { code: 'engine_failed', message: `the engine answered ${status}` };
    recorder.firstByte(status);
    recorder.close({ status: 'failed', reason: 'engine_error', error, response, eventCount: 1 });
    this.#caller.refuse(status, downstreamHeaders(headers), { body, deployment, tries: recorder.tries });
  }

  #fail(deployment: Deployment, failure: ExchangeFailure): void {
    const error = failureError(failure, deployment);
    const gone = failure.kind === 'aborted';
    this.#opened.recorder.close({
      status: gone ? 'cancelled' : 'failed',
      reason: gone ? 'client_closed' : failure.kind,
      error: gone ? null : { code: error.code, message: error.message },
      response: null,
      eventCount: 0,
    });
    if (!gone) this.#caller.fail(error);
  }
}

/** How long an end may still talk after the other one has hung up. A WebSocket has no half: an end that stays would hold the call for ever. */
const LINGER_MS = 2000;

function filtering(filter: SpliceFilter): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, filter.chunk(chunk)),
    flush: (done) => done(null, filter.rest()),
  });
}

/** Hears of the messages of both ends what they tell of use. */
class Ears {
  readonly #use: SessionUse;
  readonly #engine: WebSocketReader;
  readonly #caller: WebSocketReader | undefined;

  constructor(use: SessionUse, headers: readonly string[]) {
    this.#use = use;
    const compressed = (headerOf(headers, 'sec-websocket-extensions') ?? '').includes('permessage-deflate');
    this.#engine = new WebSocketReader(compressed, (message) => use.hear(message));
    this.#caller = use.listens ? new WebSocketReader(compressed, (message) => this.#hearCaller(message)) : undefined;
  }

  engine(chunk: Buffer): void {
    this.#engine.chunk(chunk);
  }

  caller(chunk: Buffer): void {
    this.#caller?.chunk(chunk);
  }

  #hearCaller(message: Buffer): void {
    this.#use.hearCaller(message);
    if (!this.#use.listens) this.#caller?.stop();
  }

  async done(): Promise<Observed> {
    await this.#engine.done();
    await this.#caller?.done();
    return this.#use.done();
  }
}

interface Joint {
  readonly recorder: Recorder;
  readonly filter: SpliceFilter | undefined;
  readonly ears: Ears | undefined;
}

/** Both ends as one; the first that ends or breaks takes the other with it. */
function joined(socket: Duplex, upstream: Duplex, { recorder, filter, ears }: Joint): void {
  const hash = createHash('sha256');
  let bytes = 0;
  upstream.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
    ears?.engine(chunk);
  });
  if (ears !== undefined) socket.on('data', (chunk: Buffer) => ears.caller(chunk));
  (filter === undefined ? upstream : upstream.pipe(filtering(filter))).pipe(socket);
  socket.pipe(upstream);
  let over = false;
  const end = (error: string | null) => (): void => {
    if (over) return;
    over = true;
    recorder.lastByte();
    const ending: Ending = {
      status: error === null ? 'completed' : 'failed',
      reason: error,
      error: error === null ? null : { code: 'engine_failed', message: 'the connection to the engine broke' },
      response: { status: 101, sha256: hash.digest('hex'), bytes },
      eventCount: 0,
    };
    if (ears === undefined) recorder.close(ending);
    else void ears.done().then((observed) => recorder.close({ ...ending, observed }));
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
