import { expect, it } from 'vitest';
import { failureInErrors, readFailure, statusIn } from './failure.ts';

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

// What the agents of November 2026 write to their error output and nowhere else: an id that they do not know, and no credential.
it.each([
  ['gemini', 'Error resuming session: No previous sessions found for this project.\n', 'SESSION_NOT_FOUND'],
  ['gemini', 'Error resuming session: Invalid session identifier "x".\n', 'SESSION_NOT_FOUND'],
  ['copilot', "Error: No session, task, or name matched 'x'.\n\nTo resume by name: copilot --resume=<name>\n", 'SESSION_NOT_FOUND'],
  ['opencode', '\u001b[91m\u001b[1mError: \u001b[0mSession not found\n', 'SESSION_NOT_FOUND'],
  ['pi', "No session found matching 'x'\n", 'SESSION_NOT_FOUND'],
  ['omp', 'Error: Session "x" not found.\nRun `omp --resume` without an argument.\n', 'SESSION_NOT_FOUND'],
  ['claude', 'No conversation found with session ID: x\n', 'SESSION_NOT_FOUND'],
  ['gemini', 'Please set an Auth method in your settings.json or specify GEMINI_API_KEY\n', 'AUTH_ERROR'],
  ['copilot', 'Error: No authentication information found.\n', 'AUTH_ERROR'],
  ['pi', 'No API key found for the selected model.\n\nUse /login to log into a provider.\n', 'AUTH_ERROR'],
  ['omp', 'No models available. Use /login or set an API key environment variable.\n', 'AUTH_ERROR'],
  ['openclaw', 'lane task error: lane=main\nNo route-compatible authentication source is configured for openai.\n', 'AUTH_ERROR'],
])('reads the error output of %s: %j', (_, stderr, code) => {
  expect(failureInErrors(stderr, 'log in')?.code).toBe(code);
});

it('gives the line that tells it, without paint and prefix', () => {
  const stderr = 'Warning: slow disk\n\u001b[91m\u001b[1mError: \u001b[0mSession not found\n';
  expect(failureInErrors(stderr, '')).toMatchObject({ message: 'Session not found', event: { type: 'error', code: 'SESSION_NOT_FOUND' } });
});

it.each(['', 'Warning: slow disk\n', 'Segmentation fault (core dumped)\n', 'TypeError: x is not a function\n    at y (z.js:1:404)\n'])(
  'finds nothing in %j',
  (stderr) => {
    expect(failureInErrors(stderr, '')).toBeUndefined();
  },
);
