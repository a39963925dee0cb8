import { copyToPost } from '../../base/bounded/buffers.ts';
import { type Posted, ThreadFailure, Threads } from '../../base/bounded/thread-pool.ts';
import { mayHoldMore } from '../../base/json-limits.ts';
import { ownModule } from '../../base/own-files.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Observed } from '../../dialects/dialect.ts';
import { addedEngines } from '../../engines/index.ts';
import { EngineFailure } from '../../ir/engine-failure.ts';
import type { AnswerRecord } from '../../mapping/answers/account.ts';
import type { ExplainInput, Explanation } from '../../mapping/explain.ts';
import type { Prepared, PrepareInput } from '../../mapping/prepare.ts';
import type { PatchedText, PatchTextInput } from '../../mapping/thinking-override.ts';
import type { JsonAsked, JsonVerdict } from '../../negotiation/post-processing.ts';
import { FailedAnswer } from '../answers/answer-errors.ts';
import type { SeenAnswer } from '../answers/seen-answer.ts';
import type { ExplainedCall } from '../explained.ts';
import { arrived, type Failure, type Job, type NamedTranslation, named, namedPatch, type Outcome, type Work } from './protocol.ts';

/** Below this size and this number of values the work takes less than ten milliseconds, and the way to another thread is not worth it. */
export const LARGE_BYTES = 512 * 1024;
const MANY_VALUES = 5000;
/** Requests that hold more are not translated: no conversation comes near, and each value takes memory in every form it passes through. */
export const MOST_VALUES = 500_000;

const THREADS = 2;
const MOST_WAITING = 32;
/** Enough for the longest body in all the forms that it passes through; the budget of memory counts on it. */
const HEAP_MB = 768;
const DEADLINE_MS = 60_000;

/** Whether a body of these measures is for another thread to read. */
export function isLarge(bytes: number, values: number): boolean {
  return bytes >= LARGE_BYTES || values > MANY_VALUES;
}

/** Shorter bodies cannot hold many values. */
export const MAY_HOLD_MANY = 2 * MANY_VALUES;

/** Whether bytes that are JSON may hold many values. Commas in texts count too: at worst a body goes to another thread that need not. */
export function mayHoldMany(body: Buffer): boolean {
  return body.length >= MAY_HOLD_MANY && mayHoldMore(body, MANY_VALUES);
}

export interface LargeBodiesOptions {
  readonly heapMb?: number;
  readonly mostWaiting?: number;
}

export interface PreparedText {
  readonly prepared: Prepared;
  /** SHA-256 of the text that was read. */
  readonly textSha256: string;
}

/** An answer in the caller's dialect. */
export interface TranslatedAnswer {
  readonly text: Buffer;
  readonly observed: Observed;
  readonly record: AnswerRecord;
}

/** Which answer is to be read, and for whom. */
export interface ObserveAsk {
  /** Who reads it, by id. */
  readonly reader: string | undefined;
  readonly streamed: boolean;
  readonly caller: string;
}

/** An explanation as JSON text, without its error. */
export interface ExplanationText {
  readonly text: string;
  readonly error: AbpError | undefined;
}

/** Does with bodies what takes so long, by their size or by what is in them, that every other call would wait for it. */
export class LargeBodies {
  readonly #threads: Threads<Job, Outcome>;

  constructor({ heapMb = HEAP_MB, mostWaiting = MOST_WAITING }: LargeBodiesOptions = {}) {
    const module = ownModule('calls/large-bodies/thread');
    this.#threads = new Threads({ module, threads: THREADS, mostWaiting, heapMb, deadlineMs: DEADLINE_MS });
  }

  /** The same as `prepare` of the mapping, on another thread. */
  async prepare(text: Buffer, input: PrepareInput, caller = ''): Promise<PreparedText> {
    const outcome = await this.#run(text, { kind: 'prepare', input: named(input) }, caller);
    if (outcome.kind !== 'prepare') throw anotherQuestion();
    const { upstream, error, ...prepared } = outcome.prepared;
    return {
      prepared: {
        ...prepared,
        ...(upstream === undefined ? {} : { upstream: { ...upstream, body: bufferOf(upstream.body) } }),
        ...(error === undefined ? {} : { error: arrived(error) }),
      },
      textSha256: outcome.textSha256,
    };
  }

  /** The same as `patchText` of the mapping, on another thread. */
  async patch(text: Buffer, input: PatchTextInput, caller = ''): Promise<PatchedText> {
    const outcome = await this.#run(text, { kind: 'patch', input: namedPatch(input) }, caller);
    if (outcome.kind !== 'patch') throw anotherQuestion();
    return { body: bufferOf(outcome.body), fidelity: outcome.fidelity };
  }

  /** The same as `translateWhole`, on another thread. */
  async translate(body: Buffer, translation: NamedTranslation, caller = ''): Promise<TranslatedAnswer> {
    const outcome = await this.#run(body, { kind: 'translate', translation }, caller);
    if (outcome.kind !== 'translate') throw anotherQuestion();
    return { ...outcome.answer, text: bufferOf(outcome.answer.text) };
  }

  /** The same as `seenAnswer`, on another thread. */
  async observe(body: Buffer, { reader, streamed, caller }: ObserveAsk): Promise<SeenAnswer> {
    const outcome = await this.#run(body, { kind: 'observe', reader, streamed }, caller);
    if (outcome.kind !== 'observe') throw anotherQuestion();
    return outcome.seen;
  }

  /** The same as `judgeJson`, on another thread. */
  async judge({ said, ...asked }: JsonAsked, caller: string): Promise<JsonVerdict> {
    const outcome = await this.#run(Buffer.from(said, 'utf8'), { kind: 'judge', asked }, caller);
    if (outcome.kind !== 'judge') throw anotherQuestion();
    return outcome.verdict;
  }

  /** The same as `explainCall`; a short request is explained here and now. The price lists come with the first one. */
  async explain(
    { request, ...input }: ExplainedCall & Pick<ExplainInput, 'request'>,
    caller: string,
  ): Promise<Explanation | ExplanationText> {
    const text = Buffer.from(JSON.stringify(request), 'utf8');
    if (mayHoldMany(text)) return await this.explainText(text, input, caller);
    const { explainCall } = await import('../explained.ts');
    return explainCall(text, input, request);
  }

  /** The same for a request that nobody has read yet. The text is too long to be read here. */
  async explainText(request: Buffer, input: ExplainedCall, caller: string): Promise<ExplanationText> {
    const outcome = await this.#run(request, { kind: 'explain', input }, caller);
    if (outcome.kind !== 'explain') throw anotherQuestion();
    return { text: outcome.text, error: outcome.error === undefined ? undefined : arrived(outcome.error) };
  }

  async close(): Promise<void> {
    await this.#threads.close();
  }

  async #run(body: Buffer, work: Work, caller: string): Promise<Done> {
    const outcome = await this.#threads
      .run(caller, () => posted(body, work))
      .catch((error: unknown) => {
        throw error instanceof ThreadFailure ? undone(error) : error;
      });
    switch (outcome.kind) {
      case 'answer-failed':
        throw new FailedAnswer(failureOf(outcome.reason), outcome.facts);
      case 'refused':
      case 'engine-failed':
      case 'broken':
        throw failureOf(outcome);
      default:
        return outcome;
    }
  }
}

type Done = Exclude<Outcome, Failure | { kind: 'answer-failed' }>;

/** The error that the thread threw, as an error of this one: classes do not survive the way between threads. */
function failureOf(failure: Failure): Error {
  if (failure.kind === 'refused') return arrived(failure.error);
  return failure.kind === 'engine-failed' ? new EngineFailure(failure.error) : new Error(failure.message);
}

/** The copy is made now and not earlier: the caller's bytes are still needed here. */
async function posted(body: Buffer, work: Work): Promise<Posted<Job>> {
  const bytes = await copyToPost(body);
  const added = addedEngines().map(({ transport: _here, ...engine }) => engine);
  return { job: { work, bytes, added }, transfer: [bytes.buffer] };
}

function undone({ kind, message }: ThreadFailure): AbpError {
  if (kind === 'full') return new AbpError('overloaded', 'Too many large requests are waiting to be translated.');
  if (kind === 'share')
    return new AbpError('overloaded', 'The large requests of this caller that wait to be translated take up its share.');
  return new AbpError('internal', `The body could not be translated: the thread that translates large bodies ended (${message}).`);
}

function anotherQuestion(): AbpError {
  return new AbpError('internal', 'the thread answered another question');
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
