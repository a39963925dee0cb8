import { describe, expect, it } from 'vitest';
import type { IrErrorKind } from '../../ir/response.ts';
import { openaiChat } from './dialect.ts';

const kindOf = (status: number, body: object | string): IrErrorKind =>
  openaiChat.liftError(status, {}, typeof body === 'string' ? body : JSON.stringify(body)).kind;

describe('an error of the engine', () => {
  it.each([
    [400, { error: { message: 'bad', type: 'invalid_request_error', code: 'unsupported_value' } }, 'invalid-request'],
    [400, { error: { message: "This model's maximum context length is 8192 tokens.", code: null } }, 'context-length'],
    [400, { error: { message: 'too long', code: 'context_length_exceeded' } }, 'context-length'],
    [
      400,
      { error: { message: 'Invalid request: Your request exceeded model token limit: 8192', type: 'invalid_request_error' } },
      'context-length',
    ],
    [400, { error: { message: 'prompt token count of 9 exceeds the limit of 8', code: '' } }, 'context-length'],
    [401, { error: { message: 'Incorrect API key', code: 'invalid_api_key' } }, 'authentication'],
    [402, 'quota exceeded\n', 'quota'],
    [403, { error: { message: 'not active', type: 'exceeded_current_quota_error' } }, 'quota'],
    [404, { error: { message: 'no such model', code: 'model_not_found' } }, 'not-found'],
    [429, { error: { message: 'slow down', code: 'rate_limited' } }, 'rate-limit'],
    [429, { error: { message: 'no money', type: 'insufficient_quota', code: 'insufficient_quota' } }, 'quota'],
    [429, { error: { message: 'busy', type: 'engine_overloaded_error' } }, 'overloaded'],
    [500, { error: { message: 'x', type: 'server_error' } }, 'server'],
    [503, '', 'overloaded'],
    [504, '<html>', 'timeout'],
  ] as const)('%i %j is %s', (status, body, kind) => {
    expect(kindOf(status, body)).toBe(kind);
  });

  it('says when to try again, by header before words', () => {
    const body = JSON.stringify({ error: { message: 'Your account reached max RPM, please try again after 1 seconds' } });
    expect(openaiChat.liftError(429, {}, body).retryAfterMs).toBe(1000);
    expect(openaiChat.liftError(429, { 'retry-after': '2' }, body).retryAfterMs).toBe(2000);
    expect(openaiChat.liftError(429, { 'retry-after-ms': '150', 'retry-after': '2' }, body).retryAfterMs).toBe(150);
    expect(openaiChat.liftError(429, {}, '{"error":{"message":"Please try again in 20ms."}}').retryAfterMs).toBe(20);
  });

  it('has words even when the body has none', () => {
    expect(openaiChat.liftError(500, {}, '').message).toBe('engine answered 500');
    expect(openaiChat.liftError(401, {}, 'unauthorized: token expired\n').message).toBe('unauthorized: token expired');
    expect(openaiChat.liftError(404, {}, '{"detail":"gone"}').message).toBe('gone');
  });
});

describe('a prompt that is too long for Claude', () => {
  const error = { kind: 'context-length', message: 'prompt is too long: 210,000 tokens > 200000 maximum', status: 400 } as const;

  it("reads as OpenAI's agents expect it", () => {
    expect(openaiChat.lowerError(error, { requestId: 'r' })).toEqual({
      status: 400,
      body: {
        error: {
          message:
            "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens. Please reduce the length of the messages.",
          type: 'invalid_request_error',
          param: null,
          code: 'context_length_exceeded',
        },
      },
    });
  });

  it('keeps the phrase when the engine names no numbers', () => {
    expect(openaiChat.lowerError({ ...error, message: 'input too long' }, { requestId: 'r' }).body).toMatchObject({
      error: { message: "This model's maximum context length was exceeded. (input too long)" },
    });
  });
});

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
    const { status, body } = openaiChat.lowerError({ kind, message: 'it failed', status: 500 }, { requestId: 'r' });
    expect(openaiChat.liftError(status, {}, JSON.stringify(body)).kind).toBe(kind);
  }
});
