import { expect, test } from 'vitest';
import { liftError, lowerError } from './errors.ts';

const context = { requestId: 'req_1' };

test('a prompt that is too long is said in Claude’s words, with the numbers of the engine', () => {
  const message = "This model's maximum context length is 128000 tokens. However, your messages resulted in 130,042 tokens.";
  expect(lowerError({ kind: 'context-length', message, status: 400 }, context)).toEqual({
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: `prompt is too long: 130042 tokens > 128000 maximum (${message})` },
      request_id: 'req_1',
    },
  });
  const own = 'prompt is too long: 210000 tokens > 200000 maximum';
  expect(liftError(400, {}, JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: own } })).kind).toBe(
    'context-length',
  );
  expect(lowerError({ kind: 'context-length', message: own, status: 400 }, context).body.error).toMatchObject({ message: own });
});

test('overload has Claude’s own status and word', () => {
  expect(lowerError({ kind: 'overloaded', message: 'busy', status: 503 }, context)).toEqual({
    status: 529,
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded (busy)' }, request_id: 'req_1' },
  });
});
