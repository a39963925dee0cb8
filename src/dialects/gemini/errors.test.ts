import { describe, expect, test } from 'vitest';
import type { IrErrorKind } from '../../ir/response.ts';
import { liftError, lowerError, wrapError } from './errors.ts';

const body = (error: object): string => JSON.stringify({ error });

describe('an error of Gemini', () => {
  test.each([
    [400, { status: 'INVALID_ARGUMENT', message: 'bad' }, 'invalid-request'],
    [400, { status: 'INVALID_ARGUMENT', message: 'API key not valid.', details: [{ reason: 'API_KEY_INVALID' }] }, 'authentication'],
    [
      400,
      { status: 'INVALID_ARGUMENT', message: 'The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).' },
      'context-length',
    ],
    [400, { status: 'FAILED_PRECONDITION', message: 'User location is not supported for the API use.' }, 'permission'],
    [401, { status: 'UNAUTHENTICATED', message: 'no' }, 'authentication'],
    [403, { status: 'PERMISSION_DENIED', message: 'no' }, 'permission'],
    [404, { status: 'NOT_FOUND', message: 'no model' }, 'not-found'],
    [429, { status: 'RESOURCE_EXHAUSTED', message: 'slow down' }, 'rate-limit'],
    [
      429,
      { status: 'RESOURCE_EXHAUSTED', message: 'enough', details: [{ violations: [{ quotaId: 'RequestsPerDayPerProject' }] }] },
      'quota',
    ],
    [500, { status: 'INTERNAL', message: 'oops' }, 'server'],
    [503, { status: 'UNAVAILABLE', message: 'busy' }, 'overloaded'],
    [504, { status: 'DEADLINE_EXCEEDED', message: 'late' }, 'timeout'],
  ])('%i %j is %s', (status, error, kind) => {
    expect(liftError(status, {}, body(error))).toEqual({ kind, status, message: error.message });
    expect(liftError(status, {}, `[${body(error)}]`).kind).toBe(kind);
  });

  test('says in its details when to try again, else in the header', () => {
    const retry = body({ status: 'RESOURCE_EXHAUSTED', message: 'm', details: [{ '@type': 'RetryInfo', retryDelay: '34.4s' }] });
    expect(liftError(429, { 'retry-after': '9' }, retry).retryAfterMs).toBe(34_400);
    expect(liftError(503, { 'retry-after': '9' }, 'busy')).toEqual({
      kind: 'overloaded',
      status: 503,
      message: 'busy',
      retryAfterMs: 9000,
    });
  });
});

describe('an error for a caller of Gemini', () => {
  test('uses the sentences that agents look for', () => {
    const wire = (kind: IrErrorKind, message: string): unknown => lowerError({ kind, message, status: 0, retryAfterMs: 1500 }).body;
    expect(wire('context-length', 'prompt is too long: 210000 tokens > 200000 maximum')).toMatchObject({
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/^The input token count \(210000\) exceeds the maximum number of tokens allowed \(200000\)\./),
      },
    });
    expect(wire('rate-limit', 'slow')).toEqual({
      error: {
        code: 429,
        message: 'Resource has been exhausted (e.g. check quota). slow',
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2s' }],
      },
    });
    expect(wire('overloaded', 'Overloaded')).toMatchObject({
      error: { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded. Please try again later. Overloaded' },
    });
    expect(lowerError({ kind: 'authentication', message: '', status: 401 })).toEqual({
      status: 400,
      body: {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
          details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' }],
        },
      },
    });
  });

  test('keeps our code and adds the status', () => {
    expect(wrapError({ error: { code: 'E006', type: 'BackendCapabilityMissing', message: 'no', retryable: false } }, 501)).toEqual({
      error: { code: 'E006', message: 'no', status: 'UNIMPLEMENTED', type: 'BackendCapabilityMissing', retryable: false },
    });
    expect(wrapError({ error: { code: 'E001', message: 'no' } }, 400)).toEqual({
      error: { code: 'E001', message: 'no', status: 'INVALID_ARGUMENT' },
    });
  });
});
