import { describe, expect, test } from 'vitest';
import type { IrErrorKind } from '../../ir/response.ts';
import { liftError, lowerError } from './errors.ts';

describe('an engine’s error in the vendor’s words', () => {
  test.each<[IrErrorKind, number, string, string | null]>([
    ['invalid-request', 400, 'invalid_request_error', null],
    ['authentication', 401, 'invalid_request_error', 'invalid_api_key'],
    ['permission', 403, 'request_forbidden', null],
    ['not-found', 400, 'invalid_request_error', 'model_not_found'],
    ['too-large', 413, 'invalid_request_error', null],
    ['context-length', 400, 'invalid_request_error', 'context_length_exceeded'],
    ['rate-limit', 429, 'requests', 'rate_limit_exceeded'],
    ['quota', 429, 'insufficient_quota', 'insufficient_quota'],
    ['overloaded', 503, 'service_unavailable_error', 'server_is_overloaded'],
    ['timeout', 504, 'server_error', null],
    ['server', 500, 'server_error', 'server_error'],
  ])('%s is %i %s', (kind, status, type, code) => {
    expect(lowerError({ kind, message: 'm', status: 500 })).toMatchObject({ status, body: { error: { type, code } } });
  });

  test('keeps the phrase that agents look for and what the engine said', () => {
    expect(lowerError({ kind: 'context-length', message: 'prompt is too long: 9 > 8', status: 400 }).body).toEqual({
      error: {
        message: 'Your input exceeds the context window of this model. Please adjust your input and try again. (prompt is too long: 9 > 8)',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    });
  });
});

describe('an error of the vendor in neutral words', () => {
  const body = (error: object): string => JSON.stringify({ error });

  test('the code says more than the status', () => {
    expect(liftError(400, {}, body({ code: 'model_not_found', message: 'm' })).kind).toBe('not-found');
    expect(liftError(429, {}, body({ type: 'insufficient_quota', message: 'm' })).kind).toBe('quota');
    expect(liftError(500, {}, body({ code: null, message: 'm' })).kind).toBe('server');
  });

  test('the wait is in a header or in the sentence', () => {
    expect(liftError(429, { 'retry-after-ms': '250', 'retry-after': '1' }, '{}').retryAfterMs).toBe(250);
    expect(liftError(429, { 'retry-after': '2' }, '{}').retryAfterMs).toBe(2000);
    expect(liftError(429, {}, body({ message: 'Please try again in 300ms.' })).retryAfterMs).toBe(300);
    expect(liftError(429, {}, '{}').retryAfterMs).toBeUndefined();
  });

  test('a body of another shape is told as far as it can be', () => {
    expect(liftError(401, {}, '{"detail":"Unauthorized"}')).toEqual({ kind: 'authentication', message: 'Unauthorized', status: 401 });
    expect(liftError(502, {}, '<html>')).toEqual({ kind: 'server', message: '<html>', status: 502 });
    expect(liftError(503, {}, '')).toEqual({ kind: 'overloaded', message: 'engine answered 503', status: 503 });
  });
});
