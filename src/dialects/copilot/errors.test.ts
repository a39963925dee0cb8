import { expect, it } from 'vitest';
import type { IrErrorKind } from '../../ir/response.ts';
import { copilot } from './dialect.ts';

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
    const { status, body } = copilot.lowerError({ kind, message: 'it failed', status: 500 }, { requestId: 'r' });
    expect(copilot.liftError(status, {}, JSON.stringify(body)).kind).toBe(kind);
  }
});

it('a prompt that is too long for Claude reads as agents of this vendor expect it', () => {
  const error = { kind: 'context-length', message: 'prompt is too long: 210,000 tokens > 200000 maximum', status: 400 } as const;
  expect(copilot.lowerError(error, { requestId: 'r' })).toEqual({
    status: 400,
    body: { error: { message: 'prompt token count of 210000 exceeds the limit of 200000', code: 'model_max_prompt_tokens_exceeded' } },
  });
});
