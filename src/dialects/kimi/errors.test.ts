import { expect, it } from 'vitest';
import type { IrErrorKind } from '../../ir/response.ts';
import { kimi } from './dialect.ts';

const KINDS: readonly IrErrorKind[] = [
  'invalid-request',
  'authentication',
  'permission',
  'not-found',
  'too-large',
  'context-length',
  'rate-limit',
  'quota',
  'overloaded',
  'timeout',
  'server',
];

it('every kind that is written is read as the same kind', () => {
  for (const kind of KINDS) {
    const { status, body } = kimi.lowerError({ kind, message: 'it failed', status: 500 }, { requestId: 'r' });
    expect(kimi.liftError(status, {}, JSON.stringify(body)).kind).toBe(kind);
  }
});

it('a prompt that is too long for Claude reads as agents of this vendor expect it', () => {
  const error = { kind: 'context-length', message: 'prompt is too long: 210,000 tokens > 200000 maximum', status: 400 } as const;
  expect(kimi.lowerError(error, { requestId: 'r' })).toEqual({
    status: 400,
    body: {
      error: {
        message: 'Invalid request: Your request exceeded model token limit: 200000 (requested: 210000)',
        type: 'invalid_request_error',
      },
    },
  });
});
