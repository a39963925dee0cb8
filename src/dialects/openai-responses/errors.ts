import { type JsonObject, parseJson } from '../../base/json.ts';
import type { IrError, IrErrorKind } from '../../ir/response.ts';
import type { WireError } from '../dialect.ts';
import { withLimitWord } from '../limit-word.ts';
import { toldStatus } from '../told-status.ts';
import * as wire from './wire.ts';

interface ErrorWords {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param?: string;
  /** The vendor's own sentence, where agents look for it. */
  readonly phrase?: string;
}

/** How OpenAI says each kind of failure on this API, where an unknown model is a 400. */
const WORDS: Readonly<Record<IrErrorKind, ErrorWords>> = {
  'invalid-request': { status: 400, type: 'invalid_request_error', code: null },
  authentication: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  permission: { status: 403, type: 'request_forbidden', code: null },
  'not-found': { status: 400, type: 'invalid_request_error', code: 'model_not_found', param: 'model' },
  'too-large': { status: 413, type: 'invalid_request_error', code: null },
  'context-length': {
    status: 400,
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    param: 'input',
    phrase: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  },
  'rate-limit': { status: 429, type: 'requests', code: 'rate_limit_exceeded', phrase: 'Rate limit reached.' },
  quota: {
    status: 429,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    phrase: 'You exceeded your current quota, please check your plan and billing details.',
  },
  overloaded: {
    status: 503,
    type: 'service_unavailable_error',
    code: 'server_is_overloaded',
    phrase: 'Our servers are currently overloaded. Please try again later.',
  },
  timeout: { status: 504, type: 'server_error', code: null },
  server: { status: 500, type: 'server_error', code: 'server_error' },
};

/** Kinds of errors that a code names whatever the status is. */
const CODES: Readonly<Record<string, IrErrorKind>> = {
  invalid_api_key: 'authentication',
  model_not_found: 'not-found',
  previous_response_not_found: 'not-found',
  context_length_exceeded: 'context-length',
  rate_limit_exceeded: 'rate-limit',
  insufficient_quota: 'quota',
  billing_hard_limit_reached: 'quota',
  usage_limit_reached: 'quota',
  usage_not_included: 'quota',
  server_is_overloaded: 'overloaded',
  slow_down: 'overloaded',
  server_error: 'server',
  invalid_prompt: 'invalid-request',
};

const STATUSES: Readonly<Record<number, IrErrorKind>> = {
  401: 'authentication',
  403: 'permission',
  404: 'not-found',
  408: 'timeout',
  // Another request holds the thing; the vendor's SDKs ask again by themselves.
  409: 'server',
  413: 'too-large',
  429: 'rate-limit',
  503: 'overloaded',
  504: 'timeout',
};

/** An error as the wire tells it: in a body, in an `error` event or inside a failed response. */
interface ToldError {
  readonly code?: string | null | undefined;
  readonly type?: string | null | undefined;
  readonly message?: string | null | undefined;
}

function errorKind(told: ToldError, status: number): IrErrorKind {
  const known = CODES[told.code ?? ''] ?? CODES[told.type ?? ''];
  // A server error is the vendor's word for every failure of its own; the status knows which.
  if (known !== undefined && known !== 'server') return known;
  if (told.type === 'invalid_request_error' && status < 400) return 'invalid-request';
  return STATUSES[status] ?? (status >= 400 && status < 500 ? 'invalid-request' : 'server');
}

/** An error inside a stream, whose status has long been 200. */
export function streamError(told: ToldError): IrError {
  const message = told.message ?? 'engine error';
  return { kind: errorKind(told, 200), message, status: 200, ...retryIn(message) };
}

const TRY_AGAIN = /try again in\s*(\d+(?:\.\d+)?)\s*(ms|s)/i;

function retryIn(message: string): { retryAfterMs?: number } {
  const found = TRY_AGAIN.exec(message);
  return found === null ? {} : { retryAfterMs: Math.ceil(Number(found[1]) * (found[2]?.toLowerCase() === 'ms' ? 1 : 1000)) };
}

/** An error answer of an OpenAI engine. The wait is in a header, or at worst in the sentence. */
export function liftError(status: number, headers: Readonly<Record<string, string>>, body: string): IrError {
  const parsed = parseJson(body);
  const known = parsed.ok ? wire.ErrorBody.safeParse(parsed.value) : undefined;
  const told = known?.success ? (known.data.error ?? { message: known.data.detail }) : {};
  const message = told.message ?? (body.slice(0, 500) || `engine answered ${status}`);
  const milliseconds = Number(headers['retry-after-ms']) || Number(headers['retry-after']) * 1000;
  const wait = Number.isFinite(milliseconds) && milliseconds > 0 ? { retryAfterMs: milliseconds } : retryIn(message);
  return { kind: errorKind(told, status), message, status, ...wait };
}

/** The vendor's phrase first, then what the engine said; a wait is in the words too, where agents read it. */
function wording(error: IrError): string {
  const { phrase } = WORDS[error.kind];
  const said = phrase === undefined || error.message.includes(phrase) ? error.message : `${phrase} (${error.message})`;
  if (error.kind !== 'rate-limit' || error.retryAfterMs === undefined || TRY_AGAIN.test(said)) return said;
  return `${said} Please try again in ${error.retryAfterMs / 1000}s.`;
}

/** The `error` object of a body or of an `error` event. */
export function errorObject(error: IrError): JsonObject {
  const { type, code, param } = WORDS[error.kind];
  return { message: wording(error), type, param: param ?? null, code };
}

/** The `error` member of a failed response, which has its own short list of codes. */
export function failure(error: IrError): JsonObject {
  const fallback = error.kind === 'invalid-request' ? 'invalid_prompt' : 'server_error';
  return { code: WORDS[error.kind].code ?? fallback, message: wording(error) };
}

export function lowerError(error: IrError): WireError {
  return { status: toldStatus(error, WORDS[error.kind].status), body: { error: errorObject(error) } };
}

/** OpenAI's SDKs look for `error` and nothing beside it. */
export function wrapError(body: JsonObject): JsonObject {
  return withLimitWord(body, WORDS);
}
