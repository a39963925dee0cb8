import { stripVTControlCharacters } from 'node:util';
import type { EventDraft } from '../../adapter.ts';

/** Something that went wrong in the words of an agent. */
export interface Failure {
  readonly message: string;
  /** The HTTP status the model answered with. */
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/** The code of the run error table that fits, and the event that tells it. */
export interface ReadFailure {
  readonly code: 'AUTH_ERROR' | 'RATE_LIMITED' | 'CONTEXT_EXCEEDED' | 'SESSION_NOT_FOUND' | 'INTERNAL';
  readonly event: EventDraft;
}

// Vendors and agents word a full context differently; the status is 400 or 413 in all of them.
const CONTEXT_WORDS = /context[ _-]?(?:length|window|limit)|prompt is too long|too many tokens|maximum context|context_exceeded/i;
const AUTH_WORDS =
  /invalid (?:x-)?api[ -]?key|authentication|unauthori[sz]ed|not logged in|no api key|missing api key|permission_error|set an (?:api key|auth method)/i;
const SESSION_WORDS =
  /\bno (?:previous )?(?:rollout|conversation|session|thread)s? (?:was )?found|\bno session\b.{0,40}\bmatched|\bsession\b.{0,80}\bnot found|invalid session (?:id|identifier)/i;
const RATE_WORDS = /rate[ _-]?limit|too many requests|overloaded|quota/i;

/** Reads a failure; `guidance` says how the user of this agent makes it know them. */
export function readFailure(failure: Failure, guidance: string): ReadFailure {
  const { message } = failure;
  const status = failure.status ?? statusIn(message);
  if (CONTEXT_WORDS.test(message)) return { code: 'CONTEXT_EXCEEDED', event: { type: 'context_exceeded', ...tokensIn(message) } };
  if (status === 401 || status === 403 || (status === undefined && AUTH_WORDS.test(message))) {
    return { code: 'AUTH_ERROR', event: { type: 'auth_error', message, guidance } };
  }
  if (status === 429 || status === 529 || (status === undefined && RATE_WORDS.test(message))) {
    const wait = failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs };
    return { code: 'RATE_LIMITED', event: { type: 'rate_limit_error', message, ...wait } };
  }
  if (status === undefined && SESSION_WORDS.test(message)) {
    return { code: 'SESSION_NOT_FOUND', event: { type: 'error', code: 'SESSION_NOT_FOUND', message, recoverable: false } };
  }
  return { code: 'INTERNAL', event: { type: 'error', code: 'INTERNAL', message, recoverable: false } };
}

/** The first line of an error output that tells one of the known failures; undefined when it is only noise. */
export function failureInErrors(stderr: string, guidance: string): (Failure & ReadFailure) | undefined {
  for (const line of stripVTControlCharacters(stderr).split('\n')) {
    const message = line.trim().replace(/^error: */i, '');
    const read = readFailure({ message }, guidance);
    if (read.code !== 'INTERNAL') return { message, ...read };
  }
  return undefined;
}

/** A status that a message begins with or names as such. */
export function statusIn(message: string): number | undefined {
  const found = /^(?:error:? *)?([45]\d\d)\b|\b(?:status|code|HTTP)[ :=(]*([45]\d\d)\b/i.exec(message);
  const digits = found?.[1] ?? found?.[2];
  return digits === undefined ? undefined : Number(digits);
}

/** `213462 tokens > 200000 maximum` and its likes; zero where the message has no numbers. */
function tokensIn(message: string): { readonly usedTokens: number; readonly maxTokens: number } {
  const numbers = [...message.matchAll(/\b\d[\d,]{3,}\b/g)].map(([digits]) => Number(digits.replaceAll(',', '')));
  return { usedTokens: Math.max(0, ...numbers), maxTokens: numbers.length === 0 ? 0 : Math.min(...numbers) };
}
