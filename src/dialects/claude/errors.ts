import { isoTime } from '../../base/clock.ts';
import { type JsonObject, objectIn, parseJson } from '../../base/json.ts';
import type { IrError, IrErrorKind } from '../../ir/response.ts';
import type { ReachedLimit, WireError } from '../dialect.ts';
import { withLimitWord } from '../limit-word.ts';
import { toldStatus } from '../told-status.ts';
import * as wire from './wire.ts';

interface ErrorWords {
  readonly status: number;
  readonly type: string;
  /** The vendor's own word, where agents look for it. */
  readonly phrase?: string;
}

/** How Claude says each kind of failure. 529 is its own status for overload. */
const WORDS: Readonly<Record<IrErrorKind, ErrorWords>> = {
  'invalid-request': { status: 400, type: 'invalid_request_error' },
  authentication: { status: 401, type: 'authentication_error' },
  permission: { status: 403, type: 'permission_error' },
  'not-found': { status: 404, type: 'not_found_error' },
  'too-large': { status: 413, type: 'request_too_large' },
  'context-length': { status: 400, type: 'invalid_request_error' },
  'rate-limit': { status: 429, type: 'rate_limit_error' },
  quota: { status: 429, type: 'rate_limit_error' },
  overloaded: { status: 529, type: 'overloaded_error', phrase: 'Overloaded' },
  timeout: { status: 504, type: 'timeout_error' },
  server: { status: 500, type: 'api_error' },
};

const KINDS: Readonly<Record<string, IrErrorKind>> = {
  invalid_request_error: 'invalid-request',
  authentication_error: 'authentication',
  billing_error: 'quota',
  permission_error: 'permission',
  not_found_error: 'not-found',
  request_too_large: 'too-large',
  rate_limit_error: 'rate-limit',
  timeout_error: 'timeout',
  overloaded_error: 'overloaded',
  api_error: 'server',
};

export function errorKind(type: string | undefined): IrErrorKind {
  return KINDS[type ?? ''] ?? 'server';
}

/** An error answer of a Claude engine. A prompt that is too long is an invalid request whose message says so. */
export function liftError(status: number, headers: Readonly<Record<string, string>>, body: string): IrError {
  const parsed = parseJson(body);
  const known = parsed.ok ? wire.ErrorBody.safeParse(parsed.value) : undefined;
  const type = known?.success ? known.data.error.type : undefined;
  const message = (known?.success ? known.data.error.message : undefined) ?? (body.slice(0, 500) || `engine answered ${status}`);
  const kind = message.includes(TOO_LONG) ? 'context-length' : type === undefined ? kindOfStatus(status) : errorKind(type);
  const seconds = Number(headers['retry-after']);
  return { kind, message, status, ...(Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}) };
}

function kindOfStatus(status: number): IrErrorKind {
  // Another request holds the thing; the vendor's SDKs ask again by themselves.
  if (status === 408 || status === 409) return status === 408 ? 'timeout' : 'server';
  const row = Object.entries(WORDS).find(([, words]) => words.status === status);
  return row === undefined ? (status < 500 ? 'invalid-request' : 'server') : (row[0] as IrErrorKind); // keys of WORDS
}

export function lowerError(error: IrError, context: { readonly requestId: string }): WireError {
  return {
    status: toldStatus(error, WORDS[error.kind].status),
    body: { type: 'error', error: errorObject(error), request_id: context.requestId },
  };
}

/** The `error` member of a body or of an `error` event. */
export function errorObject(error: IrError): JsonObject {
  return { type: WORDS[error.kind].type, message: wording(error) };
}

const TOO_LONG = 'prompt is too long';

/** Agents match on Claude's words: theirs come first, the engine's after them. */
function wording({ kind, message }: IrError): string {
  const phrase = kind === 'context-length' ? tooLong(message) : WORDS[kind].phrase;
  return phrase === undefined || message.includes(kind === 'context-length' ? TOO_LONG : phrase) ? message : `${phrase} (${message})`;
}

/** Of the two numbers every vendor gives, the larger is what was sent. */
function tooLong(message: string): string {
  const numbers = (message.match(/\d[\d,]{2,}/g) ?? []).map((text) => Number(text.replaceAll(',', ''))).sort((a, b) => b - a);
  const [sent, limit] = numbers;
  return sent === undefined || limit === undefined ? TOO_LONG : `${TOO_LONG}: ${sent} tokens > ${limit} maximum`;
}

/** Claude's SDKs look for `type: "error"` beside `error`. */
export function wrapError(body: JsonObject): JsonObject {
  return { type: 'error', ...withThreadWord(withLimitWord(body, WORDS)) };
}

/**
 * The words by which the SDK (1.8, of 2026-11) sends the whole conversation instead of going on from one that is not kept, and those by
 * which it does without a thread from then on.
 */
function withThreadWord(body: JsonObject): JsonObject {
  const error = objectIn(body.error);
  const details = objectIn(error?.details);
  if (typeof details?.path !== 'string' || !/^thread(?:\.|$)/.test(details.path)) return body;
  const words =
    details.feature === 'stored_state'
      ? { error_code: 'thread_not_found' }
      : { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
  return { ...body, error: { ...error, details: { ...details, ...words } } };
}

/** Anthropic's own family of headers, with the reset as a time of RFC 3339 (page "Rate limits" of its API reference, 2026-11). */
export function limitHeaders({ measure, limit, remaining, resetsAt }: ReachedLimit): readonly string[] {
  const told = { limit: String(limit), remaining: String(remaining), reset: `${isoTime(resetsAt).slice(0, 19)}Z` };
  return Object.entries(told).flatMap(([name, value]) => [`anthropic-ratelimit-${measure}-${name}`, value]);
}
