import { isJsonObject, type Json, type JsonObject, objectIn, parseJson } from '../../../base/json.ts';
import type { IrError, IrErrorKind } from '../../../ir/response.ts';
import type { WireError } from '../../dialect.ts';
import { withLimitWord } from '../../limit-word.ts';
import { compact } from '../../members.ts';
import { toldStatus } from '../../told-status.ts';
import type { ChatFlavour } from './flavour.ts';
import * as wire from './wire.ts';

/** Codes and types of the family, whichever member uses them. */
const KINDS: Readonly<Record<string, IrErrorKind>> = {
  context_length_exceeded: 'context-length',
  model_max_prompt_tokens_exceeded: 'context-length',
  string_above_max_length: 'invalid-request',
  insufficient_quota: 'quota',
  quota_exceeded: 'quota',
  billing_hard_limit_reached: 'quota',
  exceeded_current_quota_error: 'quota',
  rate_limit_exceeded: 'rate-limit',
  rate_limited: 'rate-limit',
  RateLimitReached: 'rate-limit',
  rate_limit_reached_error: 'rate-limit',
  engine_overloaded_error: 'overloaded',
  invalid_api_key: 'authentication',
  invalid_authentication_error: 'authentication',
  unsupported_country_region_territory: 'permission',
  permission_denied_error: 'permission',
  model_not_found: 'not-found',
  model_not_supported: 'not-found',
  DeploymentNotFound: 'not-found',
  resource_not_found_error: 'not-found',
  content_filter: 'invalid-request',
  timeout: 'timeout',
};

/** Sentences that say more than code and status do. */
const SENTENCES: readonly (readonly [sentence: RegExp, kind: IrErrorKind])[] = [
  [/maximum context length|exceeded model token limit|prompt token count of \d+ exceeds|context window/i, 'context-length'],
  [/currently overloaded/i, 'overloaded'],
];

const STATUSES: Readonly<Record<number, IrErrorKind>> = {
  401: 'authentication',
  402: 'quota',
  403: 'permission',
  404: 'not-found',
  408: 'timeout',
  // Another request holds the thing; the vendor's SDKs ask again by themselves.
  409: 'server',
  413: 'too-large',
  429: 'rate-limit',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
};

/** An error answer of an engine. Copilot's may be plain text, or JSON that says it is text. */
export function liftError(status: number, headers: Readonly<Record<string, string>>, body: string): IrError {
  const parsed = parseJson(body);
  const error = errorOf(status, parsed.ok ? parsed.value : body.trim().slice(0, 500));
  const retryAfterMs = retryAfter(headers) ?? error.retryAfterMs;
  return { ...error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** An error body, or the error of a stream, in neutral words. */
export function errorOf(status: number, body: Json): IrError {
  const known = wire.ErrorBody.safeParse(body);
  const { error, message: outer, detail } = known.success ? known.data : {};
  const { message: inner, type, code } = typeof error === 'string' ? { message: error } : (error ?? {});
  const plain = typeof body === 'string' ? body : undefined;
  const message = (inner ?? outer ?? detail ?? plain) || `engine answered ${status}`;
  const said = SENTENCES.find(([sentence]) => sentence.test(message))?.[1];
  // OpenRouter answers 200 and writes the status that it means where others have a word.
  const meant = typeof code === 'number' && code >= 400 && code < 600 ? code : status;
  const kind = said ?? KINDS[String(code ?? '')] ?? KINDS[type ?? ''] ?? STATUSES[meant] ?? kindOfType(type, meant);
  const wait = /try again (?:in|after) (\d+(?:\.\d+)?) ?(ms|s\b|seconds?)/i.exec(message);
  const retryAfterMs = wait === null ? undefined : Math.ceil(Number(wait[1]) * (wait[2] === 'ms' ? 1 : 1000));
  return { kind, message, status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** The error of a choice, where OpenRouter tells that the engine behind it gave up in the middle of an answer. */
export function choiceError(choices: readonly { readonly error?: Json | undefined }[]): IrError | undefined {
  const error = choices.map((choice) => choice.error).find(isTold);
  return error === undefined ? undefined : errorOf(200, { error });
}

export function isTold(error: Json | undefined): error is string | JsonObject {
  return typeof error === 'string' || isJsonObject(error ?? null);
}

/** A stream's error has no status of its own. */
function kindOfType(type: string | null | undefined, status: number): IrErrorKind {
  if (type === 'invalid_request_error') return 'invalid-request';
  return status >= 400 && status < 500 ? 'invalid-request' : 'server';
}

function retryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const exact = Number(headers['retry-after-ms']);
  if (exact > 0) return exact;
  const seconds = Number(headers['retry-after']);
  return seconds > 0 ? seconds * 1000 : undefined;
}

export function lowerChatError(flavour: ChatFlavour, error: IrError): WireError {
  return { status: toldStatus(error, flavour.errors[error.kind].status), body: errorBodyOf(flavour, error) };
}

export function errorBodyOf(flavour: ChatFlavour, error: IrError): JsonObject {
  const { type, code } = flavour.errors[error.kind];
  const message = wordingOf(flavour, error);
  return { error: { ...compact({ message, type }), ...flavour.errorMembers, ...compact({ code }) } };
}

/** Agents match on the vendor's own sentences, so they stand first unless the engine already said them. */
function wordingOf(flavour: ChatFlavour, { kind, message }: IrError): string {
  if (kind === 'context-length') return contextWording(flavour, message);
  const { phrase } = flavour.errors[kind];
  return phrase === undefined || message.includes(phrase) ? message : `${phrase} (${message})`;
}

/** Engines name the limit and the size of the prompt in their own order; the limit is the smaller one. */
function contextWording(flavour: ChatFlavour, message: string): string {
  const numbers = (message.match(/\d[\d,]{2,}/g) ?? []).map((text) => Number(text.replaceAll(',', ''))).sort((a, b) => a - b);
  const [limit] = numbers;
  const asked = numbers.at(-1);
  if (limit === undefined || asked === undefined || limit === asked) return `${flavour.contextPhrase} (${message})`;
  return flavour.contextLength(limit, asked);
}

/** Our own error body inside the members that the vendor's SDKs read. */
export function wrapChatError(flavour: ChatFlavour, body: JsonObject): JsonObject {
  const { error, ...rest } = withLimitWord(body, flavour.errors);
  const said = objectIn(error) ?? {};
  return { error: { ...said, ...missing(flavour.errorMembers, said) }, ...rest };
}

function missing(members: JsonObject, present: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => present[name] === undefined));
}
