import { pipeline, type Readable, Transform } from 'node:stream';
import { AbpError } from '../../contract/errors.ts';
import type { StreamObserver } from '../../dialects/dialect.ts';
import type { Exchange } from '../../upstream/exchange.ts';
import type { TurnedDown } from '../../upstream/gate.ts';
import type { Answer } from '../answers/answer.ts';
import { type RelayOptions, relay } from '../answers/relay.ts';
import type { AnswerReader } from '../answers/seen-answer.ts';
import type { Holding } from '../bounds/body-budget.ts';
import type { CallContext } from '../context.ts';
import { encodingOf, headerOf } from '../headers.ts';
import { AskedReader } from '../meters/asked-reader.ts';
import { claimFor } from '../meters/counted-results.ts';
import type { Meter } from '../meters/meter.ts';
import { findReader, meterOf } from '../meters/meters.ts';
import { observeRows } from '../meters/rows.ts';
import { OpenedCall, type UnreadCall, type UnreadTry } from './unread-call.ts';

/** Passes bytes both ways without looking at them; the body streams through and is never held. */
export function callRaw(context: CallContext, call: UnreadCall, body: Readable | null, answer: Answer): Exchange {
  const one = new RawCall(context, call, body, answer);
  one.begin();
  return one;
}

/** One raw call. Where it has no body, another deployment of the engine may take it over. */
class RawCall implements Exchange {
  readonly #context: CallContext;
  readonly #call: UnreadCall;
  readonly #body: Readable | null;
  readonly #answer: Answer;
  readonly #opened: OpenedCall;
  #exchange: Exchange | undefined;

  constructor(context: CallContext, call: UnreadCall, body: Readable | null, answer: Answer) {
    this.#context = context;
    this.#call = call;
    this.#body = body;
    this.#answer = answer;
    this.#opened = new OpenedCall(context, call, 'raw', { send: (one) => this.#send(one), fail: (error) => this.#fail(error) });
  }

  begin(): void {
    this.#opened.begin();
  }

  abort(): void {
    this.#opened.leave();
    this.#exchange?.abort();
  }

  resume(): void {
    this.#exchange?.resume();
  }

  #send(one: UnreadTry): void {
    const { method, target } = this.#call;
    const { engine } = one.deployment;
    const meter = meterOf(method, target.path, engine.dialects);
    const row = meter?.row;
    if (row === undefined) {
      this.#relay(one, meter, meter?.reader === undefined ? undefined : findReader(meter.reader));
      return;
    }
    const name = target.path;
    // What is counted of a result must be known before it is read again.
    void this.#context.counted.rows(`${engine.id} ${name}`).then((from) => {
      this.#relayLater(one, meter, from === undefined ? undefined : lineReader(() => observeRows(row, { name, from })));
    });
  }

  #relayLater(one: UnreadTry, meter: Meter | undefined, reader: AnswerReader | undefined): void {
    try {
      if (this.#opened.hasLeft) this.#opened.cancelled();
      else this.#relay(one, meter, reader);
    } catch (error) {
      this.#fail(error);
    }
  }

  #relay({ admitted, deployment, request }: UnreadTry, meter: Meter | undefined, reader: AnswerReader | undefined): void {
    const call = this.#call;
    const context = this.#context;
    const body = this.#body;
    const { recorder } = this.#opened;
    const holding = context.budget.holding(call.share);
    const asked = body === null || meter?.asks !== true ? undefined : this.#askedReader(holding);
    const headers = body === null ? request.headers : withLength(request.headers, call);
    const sent = asked === undefined || body === null ? body : seenBody(body, asked);
    try {
      this.#exchange = relay(
        { ...request, method: call.method, headers, body: sent, runHex: call.runId.slice(4) },
        {
          admitted,
          deployment,
          reader,
          complete: this.#completing(meter, asked),
          claim: claimFor(context.counted, deployment.engine),
          retold: meter?.retold,
          holding,
          aside: (bytes, streamed) => context.large.observe(bytes, { reader: reader?.id, streamed, caller: call.share }),
          recorder,
          answer: this.#answer,
          // A body that streams through is gone once it was sent.
          takeOver: body === null && this.#opened.hasNext ? (reason) => this.#takeOver(reason) : undefined,
          onTaken: () => undefined,
          onFault: (error) => context.onFault(error, call.runId),
        },
      );
    } catch (error) {
      recorder.broke(error);
      throw error;
    }
  }

  #askedReader(holding: Holding): AskedReader {
    const { headers } = this.#call;
    const form = { contentType: headerOf(headers, 'content-type') ?? '', encoding: encodingOf(headers) };
    return new AskedReader(form, holding);
  }

  /** Puts together what is known of a metered call once its answer has come. */
  #completing(meter: Meter | undefined, asked: AskedReader | undefined): RelayOptions['complete'] {
    const complete = meter?.complete;
    if (complete === undefined) return undefined;
    const { path } = this.#call.target;
    return async (seen, answered) => complete(seen, { path, fields: (await asked?.fields()) ?? {}, bytes: asked?.bytes ?? 0 }, answered);
  }

  #takeOver(reason: TurnedDown): boolean {
    const next = this.#opened.next(reason);
    if (next !== undefined) this.#opened.sendAfter(next);
    return next !== undefined;
  }

  #fail(error: unknown): void {
    if (AbpError.is(error)) this.#answer.refuse(error);
    else {
      this.#answer.abandon();
      this.#context.onFault(error, this.#call.runId);
    }
  }
}

/** Reads lines of results, and nothing else. */
function lineReader(observeLines: () => StreamObserver): AnswerReader {
  return { id: 'lines', plain: true, observeLines, observeStream: observeLines, observeBody: () => ({ toolCalls: [] }) };
}

/** Lets the body of a request pass, which is looked at on its way. */
function seenBody(body: Readable, reader: AskedReader): Readable {
  const seen = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      reader.chunk(chunk);
      done(null, chunk);
    },
  });
  // What breaks either end breaks the other; who reads it is told by the stream itself.
  pipeline(body, seen, () => undefined);
  return seen;
}

/** A streamed body keeps the length its sender declared; without one it is chunked. */
function withLength(headers: readonly string[], call: UnreadCall): readonly string[] {
  const length = headerOf(call.headers, 'content-length');
  return length === undefined ? headers : [...headers, 'content-length', length];
}
