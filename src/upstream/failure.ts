import { CERTIFICATE_FAULT } from '../base/pinned-certificates.ts';
import type { ExchangeFailure, FailureKind } from './exchange.ts';

const KINDS: Readonly<Record<string, FailureKind>> = {
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'unreachable',
  ECONNREFUSED: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
};

/** The failure of a call, from an error of the HTTP client. */
export function failureOf(error: Error & { code?: string }, aborted: boolean): ExchangeFailure {
  if (aborted) return { kind: 'aborted', message: 'the caller went away' };
  const { cause } = error;
  const code = error.code ?? (cause instanceof Error && 'code' in cause ? String(cause.code) : '');
  const message = error.message === '' ? code : error.message;
  if (CERTIFICATE_FAULT.test(code)) return { kind: 'unreachable', message: `its certificate is not trusted here: ${message} (${code})` };
  return { kind: KINDS[code] ?? 'broken', message };
}
