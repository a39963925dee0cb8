import { AbpError } from '../../contract/errors.ts';
import type { AnswerContext, Dialect, Observed } from '../../dialects/dialect.ts';
import { type IrError, isTransient } from '../../ir/response.ts';
import type { AnswerRecord } from '../../mapping/answers/account.ts';
import { headerOf } from '../headers.ts';

/** An answer whose bytes are not what their encoding says. */
export function undecodable(encoding: string): Error {
  return new Error(`it is compressed (${encoding}) and cannot be decompressed`);
}

/** The error in an engine's own words. */
export function engineError(message: string | undefined): AbpError {
  return new AbpError('engine_failed', message ?? 'the engine reported an error');
}

/** Codes of faults that lie with this server: no room for another large answer, or its thread has ended. */
const OURS: ReadonlySet<string> = new Set(['internal', 'overloaded']);

/** An answer we cannot read is the engine's fault: 502 in the caller's shape. */
export function translationError(thrown: unknown): AbpError {
  if (AbpError.is(thrown) && OURS.has(thrown.code)) return thrown;
  if (AbpError.is(thrown) && thrown.code === 'engine_failed') return thrown;
  const reason = thrown instanceof RangeError ? 'it is nested too deeply' : thrown instanceof Error ? thrown.message : String(thrown);
  return new AbpError('engine_failed', `The engine's answer cannot be translated: ${reason}`);
}

/** Facts for the receipt of an answer that the caller did not get. */
export interface FailedFacts {
  /** With its usage, because the engine charges for it whatever became of it. */
  readonly observed: Observed;
  readonly record: AnswerRecord;
}

/** An answer that came as a whole, and in place of which the caller gets an error. */
export class FailedAnswer extends Error {
  readonly reason: unknown;
  readonly facts: FailedFacts;

  constructor(reason: unknown, facts: FailedFacts) {
    super(reason instanceof Error ? reason.message : String(reason));
    this.reason = reason;
    this.facts = facts;
  }
}

interface ToldTo {
  readonly caller: Dialect;
  readonly context: AnswerContext;
}

interface ToldError {
  readonly status: number;
  readonly body: Buffer;
  readonly hints: readonly string[];
}

/** An engine's error in the caller's words, with headers that say whether and when to try again. `headers` are the engine's, whose word goes before ours. */
export function toldError(error: IrError, { caller, context }: ToldTo, headers: readonly string[]): ToldError {
  const { status, body } = caller.lowerError(error, { requestId: `req_${context.runHex}` });
  const again = headerOf(headers, 'x-should-retry') ?? String(isTransient(error.kind));
  const wait = error.retryAfterMs === undefined ? [] : ['retry-after', String(Math.ceil(error.retryAfterMs / 1000))];
  return { status, body: Buffer.from(JSON.stringify(body), 'utf8'), hints: ['x-should-retry', again, ...wait] };
}
