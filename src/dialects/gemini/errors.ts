import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { IrError, IrErrorKind } from '../../ir/response.ts';
import type { WireError } from '../dialect.ts';
import { toldStatus } from '../told-status.ts';
import * as wire from './wire.ts';

interface ErrorWords {
  readonly code: number;
  readonly status: string;
  /** The vendor's own sentence, for kinds that agents recognise by it. */
  readonly phrase?: string;
  readonly details?: readonly JsonObject[];
}

const RPC = 'type.googleapis.com/google.rpc';
const INVALID_KEY = { '@type': `${RPC}.ErrorInfo`, reason: 'API_KEY_INVALID', domain: 'googleapis.com' };

/** How Gemini says each kind of failure. A bad key is an invalid argument whose details say so. */
const WORDS: Readonly<Record<IrErrorKind, ErrorWords>> = {
  'invalid-request': { code: 400, status: 'INVALID_ARGUMENT' },
  authentication: {
    code: 400,
    status: 'INVALID_ARGUMENT',
    phrase: 'API key not valid. Please pass a valid API key.',
    details: [INVALID_KEY],
  },
  permission: { code: 403, status: 'PERMISSION_DENIED' },
  'not-found': { code: 404, status: 'NOT_FOUND' },
  'too-large': { code: 400, status: 'INVALID_ARGUMENT', phrase: 'Request payload size exceeds the limit.' },
  'context-length': { code: 400, status: 'INVALID_ARGUMENT' },
  'rate-limit': { code: 429, status: 'RESOURCE_EXHAUSTED', phrase: 'Resource has been exhausted (e.g. check quota).' },
  quota: {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    phrase: 'You exceeded your current quota, please check your plan and billing details.',
  },
  overloaded: { code: 503, status: 'UNAVAILABLE', phrase: 'The model is overloaded. Please try again later.' },
  timeout: { code: 504, status: 'DEADLINE_EXCEEDED' },
  server: { code: 500, status: 'INTERNAL' },
};

const KINDS: Readonly<Record<string, IrErrorKind>> = {
  INVALID_ARGUMENT: 'invalid-request',
  OUT_OF_RANGE: 'invalid-request',
  // Region and billing: the request is fine, the caller may not send it.
  FAILED_PRECONDITION: 'permission',
  UNAUTHENTICATED: 'authentication',
  PERMISSION_DENIED: 'permission',
  NOT_FOUND: 'not-found',
  RESOURCE_EXHAUSTED: 'rate-limit',
  UNAVAILABLE: 'overloaded',
  ABORTED: 'server',
  DEADLINE_EXCEEDED: 'timeout',
  CANCELLED: 'timeout',
  INTERNAL: 'server',
  UNKNOWN: 'server',
};

const STATUS_KINDS: Readonly<Record<number, IrErrorKind>> = {
  401: 'authentication',
  403: 'permission',
  404: 'not-found',
  408: 'timeout',
  409: 'server',
  413: 'too-large',
  429: 'rate-limit',
  500: 'server',
  503: 'overloaded',
  504: 'timeout',
};

const TOO_LONG = /input token count.{0,200}exceeds the maximum/i;

/** An error answer of a Gemini engine. */
export function liftError(status: number, headers: Readonly<Record<string, string>>, body: string): IrError {
  const parsed = parseJson(body);
  const error = errorOf(parsed.ok ? parsed.value : null, status, body.slice(0, 500));
  const seconds = Number(headers['retry-after']);
  return error.retryAfterMs === undefined && seconds > 0 ? { ...error, retryAfterMs: seconds * 1000 } : error;
}

/** The error a body holds; streams without SSE wrap it in a list. */
export function errorOf(body: Json, status: number, otherwise = ''): IrError {
  const known = wire.ErrorBody.safeParse(Array.isArray(body) ? body[0] : body);
  const error = known.success ? known.data.error : {};
  const message = error.message ?? (otherwise || `engine answered ${status}`);
  const retryAfterMs = retryDelay(error.details);
  return { kind: kindOf(error, message, status), message, status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

type Told = Partial<wire.ErrorBody['error']>;

function kindOf(error: Told, message: string, status: number): IrErrorKind {
  if (error.details?.some((detail) => detail.reason === 'API_KEY_INVALID')) return 'authentication';
  if (TOO_LONG.test(message)) return 'context-length';
  if (/payload size exceeds/i.test(message)) return 'too-large';
  if (error.details?.some((detail) => detail.violations?.some(({ quotaId }) => quotaId?.includes('PerDay')))) return 'quota';
  const code = typeof error.code === 'number' ? error.code : status;
  return KINDS[error.status ?? ''] ?? STATUS_KINDS[code] ?? (code < 500 ? 'invalid-request' : 'server');
}

/** `RetryInfo.retryDelay` is a duration such as `34.4s`. */
function retryDelay(details: Told['details']): number | undefined {
  const delay = details?.find((detail) => detail.retryDelay !== undefined)?.retryDelay;
  const seconds = Number(delay?.replace(/s$/, ''));
  return Number.isFinite(seconds) ? Math.round(seconds * 1000) : undefined;
}

export function lowerError(error: IrError): WireError {
  const { code: usual, status, details = [] } = WORDS[error.kind];
  const code = toldStatus(error, usual);
  const retry =
    error.retryAfterMs === undefined ? [] : [{ '@type': `${RPC}.RetryInfo`, retryDelay: `${Math.ceil(error.retryAfterMs / 1000)}s` }];
  const all = [...details, ...retry];
  return { status: code, body: { error: { code, message: wording(error), status, ...(all.length === 0 ? {} : { details: all }) } } };
}

/** Agents match on Gemini's sentences, so theirs come first and the engine's own words after them. */
function wording(error: IrError): string {
  const { kind, message } = error;
  const phrase = kind === 'context-length' ? tooLong(message) : WORDS[kind].phrase;
  if (phrase === undefined || message.startsWith(phrase) || TOO_LONG.test(message)) return message;
  return `${phrase} ${message}`.trim();
}

/** Of the two numbers every vendor gives, the larger is what was sent. */
function tooLong(message: string): string {
  const numbers = [...message.matchAll(/\d[\d,]{2,}/g)].map(([digits]) => Number(digits.replaceAll(',', ''))).sort((a, b) => b - a);
  const [sent, limit] = numbers;
  const known = sent !== undefined && limit !== undefined;
  return `The input token count${known ? ` (${sent})` : ''} exceeds the maximum number of tokens allowed${known ? ` (${limit})` : ''}.`;
}

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Our error keeps its own code, which is text where Gemini's is a number, and gets the status that Gemini's SDKs read. */
export function wrapError(body: JsonObject, status: number): JsonObject {
  const error = isJsonObject(body.error) ? body.error : {};
  const { code = null, message = '', ...rest } = error;
  return { error: { code, message, status: STATUSES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'), ...rest } };
}
