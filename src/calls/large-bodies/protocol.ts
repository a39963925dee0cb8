import type { JsonObject } from '../../base/json.ts';
import { AbpError, type ErrorCode } from '../../contract/errors.ts';
import type { AnswerContext, Dialect, Observed } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import type { Engine } from '../../engines/engine.ts';
import { findEngine } from '../../engines/index.ts';
import type { IrError } from '../../ir/response.ts';
import { AnswerChanges } from '../../mapping/answer-changes.ts';
import type { AnswerChange } from '../../mapping/answer-filter.ts';
import type { AnswerRecord } from '../../mapping/answers/account.ts';
import type { Prepared, PrepareInput, Sendable } from '../../mapping/prepare.ts';
import type { PatchedText, PatchTextInput } from '../../mapping/thinking-override.ts';
import type { JsonAsked, JsonVerdict } from '../../negotiation/post-processing.ts';
import type { FailedFacts } from '../answers/answer-errors.ts';
import type { SeenAnswer } from '../answers/seen-answer.ts';
import type { Translation } from '../answers/translate.ts';
import type { ExplainedCall } from '../explained.ts';

/** A request to prepare, with names in place of its dialects and engine, because functions do not travel between threads. */
export type NamedInput = Omit<PrepareInput, 'source' | 'target' | 'engine'> & {
  readonly source: string;
  readonly target: string;
  readonly engine: string;
};

/** Which thinking to put into a request of the engine's own dialect, likewise. */
export type NamedPatch = Omit<PatchTextInput, 'dialect' | 'engine'> & { readonly dialect: string; readonly engine: string };

/** How to translate an answer, likewise. */
export interface NamedTranslation {
  readonly engine: string;
  readonly caller: string;
  readonly changes: readonly AnswerChange[];
  readonly context: AnswerContext;
  readonly count?: boolean;
  /** The headers that came with the answer. */
  readonly headers: readonly string[];
}

/** Work that a thread does on a body. */
export type Work =
  | { readonly kind: 'patch'; readonly input: NamedPatch }
  | { readonly kind: 'prepare'; readonly input: NamedInput }
  | { readonly kind: 'translate'; readonly translation: NamedTranslation }
  /** An answer that passes unchanged is read for its receipt. */
  | { readonly kind: 'observe'; readonly reader: string | undefined; readonly streamed: boolean }
  /** The body is what an engine said, which must be JSON. */
  | { readonly kind: 'judge'; readonly asked: Omit<JsonAsked, 'said'> }
  /** The body is a request of which somebody wants to know what would become of it. */
  | { readonly kind: 'explain'; readonly input: ExplainedCall };

export interface Job {
  readonly work: Work;
  /** Engines that configurations have added: the thread does not know them by itself. */
  readonly added: readonly Omit<Engine, 'transport'>[];
  readonly bytes: Uint8Array;
}

/** An error of the table without its class. */
export interface TravellingError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: JsonObject;
}

export type TravellingPrepared = Omit<Prepared, 'error' | 'upstream'> & {
  readonly upstream?: Omit<Sendable, 'body'> & { readonly body: Uint8Array };
  readonly error?: TravellingError;
};

interface TravellingAnswer {
  readonly text: Uint8Array;
  readonly observed: Observed;
  readonly record: AnswerRecord;
}

/** Why a thread has nothing to give back. */
export type Failure =
  | { readonly kind: 'refused'; readonly error: TravellingError }
  /** The answer says that the engine failed. */
  | { readonly kind: 'engine-failed'; readonly error: IrError }
  /** A fault of ours. */
  | { readonly kind: 'broken'; readonly message: string };

export type Outcome =
  | Failure
  /** The caller cannot get the answer. */
  | { readonly kind: 'answer-failed'; readonly reason: Failure; readonly facts: FailedFacts }
  | { readonly kind: 'patch'; readonly body: Uint8Array; readonly fidelity: PatchedText['fidelity'] }
  | { readonly kind: 'prepare'; readonly prepared: TravellingPrepared; readonly textSha256: string }
  | { readonly kind: 'translate'; readonly answer: TravellingAnswer }
  | { readonly kind: 'observe'; readonly seen: SeenAnswer }
  | { readonly kind: 'judge'; readonly verdict: JsonVerdict }
  /** As JSON text, in which numbers keep their digits. */
  | { readonly kind: 'explain'; readonly text: string; readonly error?: TravellingError };

export function named({ source, target, engine, ...input }: PrepareInput): NamedInput {
  return { ...input, source: source.id, target: target.id, engine: engine.id };
}

export function unnamed(input: NamedInput): PrepareInput {
  return { ...input, source: dialectOf(input.source), target: dialectOf(input.target), engine: engineOf(input.engine) };
}

export function namedPatch({ dialect, engine, ...input }: PatchTextInput): NamedPatch {
  return { ...input, dialect: dialect.id, engine: engine.id };
}

export function unnamedPatch(input: NamedPatch): PatchTextInput {
  return { ...input, dialect: dialectOf(input.dialect), engine: engineOf(input.engine) };
}

export function translationOf({ engine, caller, changes, count, context }: NamedTranslation): Translation {
  const way = { context, ...(count === undefined ? {} : { count }) };
  return { ...way, engine: dialectOf(engine), caller: dialectOf(caller), filter: new AnswerChanges(changes) };
}

function engineOf(id: string): Engine {
  const engine = findEngine(id);
  if (engine === undefined) throw new AbpError('internal', `there is no engine ${id}`);
  return engine;
}

function dialectOf(id: string): Dialect {
  const dialect = findDialect(id);
  if (dialect === undefined) throw new AbpError('internal', `there is no dialect ${id}`);
  return dialect;
}

export function sendOff({ code, message, details }: AbpError): TravellingError {
  return { code, message, details };
}

export function arrived({ code, message, details }: TravellingError): AbpError {
  return new AbpError(code, message, details);
}
