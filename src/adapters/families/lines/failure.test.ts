import { expect, it } from 'vitest';
import { readFailure, statusIn } from './failure.ts';

it.each([
  ['401: {"message":"no"}', 'AUTH_ERROR'],
  ['Invalid API key provided', 'AUTH_ERROR'],
  ['429: slow down', 'RATE_LIMITED'],
  ['HTTP 529: busy', 'RATE_LIMITED'],
  ['the engine is overloaded', 'RATE_LIMITED'],
  ['prompt is too long: 213462 tokens > 200000 maximum', 'CONTEXT_EXCEEDED'],
  ['500: it broke', 'INTERNAL'],
  ['400 Bad Request: rate limit in words only', 'INTERNAL'],
])('reads %j as %s', (message, code) => {
  expect(readFailure({ message }, 'log in').code).toBe(code);
});

it('keeps the numbers of a context that is full', () => {
  expect(readFailure({ message: 'prompt is too long: 213,462 tokens > 200,000 maximum' }, '').event).toEqual({
    type: 'context_exceeded',
    usedTokens: 213_462,
    maxTokens: 200_000,
  });
});

it('tells the user how the agent gets to know them', () => {
  expect(readFailure({ message: 'no', status: 401 }, 'run pi and use /login').event).toEqual({
    type: 'auth_error',
    message: 'no',
    guidance: 'run pi and use /login',
  });
});

it.each([
  ['429: slow', 429],
  ['Error: 500 broke', 500],
  ['request failed with status code 401', 401],
  ['HTTP 429: slow', 429],
  ['404 files changed', 404],
  ['wrote 512 bytes', undefined],
])('finds the status in %j', (message, status) => {
  expect(statusIn(message)).toBe(status);
});
