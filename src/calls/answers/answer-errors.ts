import { AbpError } from '../../contract/errors.ts';
import type { AnswerContext, Dialect, Observed } from '../../dialects/dialect.ts';
import type { IrError } from '../../ir/response.ts';
import type { AnswerRecord } from '../../mapping/answers/account.ts';

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
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
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

/** An engine's error in the caller's words, with the headers that say when to try again. */
export function toldError(error: IrError, { caller, context }: ToldTo): { status: number; body: Buffer; hints: readonly string[] } {
  const { status, body } = caller.lowerError(error, { requestId: `req_${context.runHex}` });
  const hints = error.retryAfterMs === undefined ? [] : ['retry-after', String(Math.ceil(error.retryAfterMs / 1000))];
  return { status, body: Buffer.from(JSON.stringify(body), 'utf8'), hints };
}
