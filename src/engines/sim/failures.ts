import type { IrError, IrErrorKind } from '../../ir/response.ts';

const KINDS: Readonly<Record<number, IrErrorKind>> = {
  401: 'authentication',
  402: 'quota',
  403: 'permission',
  404: 'not-found',
  408: 'timeout',
  413: 'too-large',
  429: 'rate-limit',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
};

/** The error a vendor would answer with this status. */
export function failure(status: number): IrError {
  return {
    kind: KINDS[status] ?? (status < 500 ? 'invalid-request' : 'server'),
    message: `sim was asked to fail with ${status}`,
    status,
    ...(status === 429 ? { retryAfterMs: 1000 } : {}),
  };
}

/** A prompt that is longer than the model reads; every vendor has words of its own for it. */
export const OVERFLOW: IrError = {
  kind: 'context-length',
  message: 'prompt is too long: 250000 tokens > 200000 maximum',
  status: 400,
};

export const FAILED_INSIDE: IrError = { kind: 'server', message: 'sim was asked to end with the status failed', status: 200 };
