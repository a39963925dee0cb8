import type { Readable } from 'node:stream';
import { AbpError } from '../../contract/errors.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import type { Exchange } from '../../upstream/exchange.ts';
import type { TurnedDown } from '../../upstream/gate.ts';
import type { Answer } from '../answers/answer.ts';
import { relay } from '../answers/relay.ts';
import type { CallContext } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { headerOf } from '../headers.ts';
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

  #send({ admitted, deployment, request }: UnreadTry): void {
    const call = this.#call;
    const context = this.#context;
    const body = this.#body;
    const { recorder } = this.#opened;
    const dialect = countedBy(call.target.path, deployment);
    const headers = body === null ? request.headers : withLength(request.headers, call);
    try {
      this.#exchange = relay(
        { ...request, method: call.method, headers, body, runHex: call.runId.slice(4) },
        {
          admitted,
          deployment,
          dialect,
          holding: context.budget.holding(call.share),
          aside: (bytes, streamed) => context.large.observe(bytes, { dialect: dialect?.id, streamed, caller: call.share }),
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

/** Raw paths that are billed by the token, and the dialect whose answers tell the usage in the same words. */
const COUNTED: readonly (readonly [path: RegExp, dialect: string])[] = [
  [/\/responses\/compact$/, 'openai-responses'],
  [/\/embeddings$/, 'openai-chat'],
  // The prompts of before chat, and those with a text behind them (Mistral, DeepSeek).
  [/\/completions$/, 'openai-chat'],
  [/\/images\/(?:generations|edits)$/, 'openai-responses'],
  [/\/audio\/(?:transcriptions|translations)$/, 'openai-responses'],
  [/\/interactions$/, 'gemini'],
];

function countedBy(path: string, { engine }: Deployment): Dialect | undefined {
  const dialect = COUNTED.find(([pattern]) => pattern.test(path))?.[1];
  return dialect !== undefined && engine.dialects.includes(dialect) ? findDialect(dialect) : undefined;
}

/** A streamed body keeps the length its sender declared; without one it is chunked. */
function withLength(headers: readonly string[], call: UnreadCall): readonly string[] {
  const length = headerOf(call.headers, 'content-length');
  return length === undefined ? headers : [...headers, 'content-length', length];
}
