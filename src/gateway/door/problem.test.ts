import { expect, it } from 'vitest';
import { AbpError } from '../../contract/errors.ts';
import { parseRunId } from '../../contract/run-id.ts';
import { isProblemPath, problemBody } from './problem.ts';

it('a problem says what the error table says, under the names of RFC 9457', () => {
  const runId = parseRunId('0190a1b2c3d47e5f8a9b0c1d2e3f4a5b')!;
  const error = new AbpError('not_found', 'There is no agent x.', { agent_id: 'x' });
  expect(problemBody(error, { runId, url: 'http://127.0.0.1:8088', path: '/v1/agents/x?a=1' })).toEqual({
    type: 'http://127.0.0.1:8088/docs/errors/not_found',
    title: 'There is nothing under this address or id.',
    status: 404,
    detail: 'There is no agent x.',
    instance: '/v1/agents/x',
    code: 'not_found',
    retryable: false,
    request_id: 'req_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b',
    details: { agent_id: 'x' },
  });
});

it.each([
  ['/v1/agents', true],
  ['/v1/agents/a/preview?x=1', true],
  ['/v1/sessions?limit=1', true],
  ['/v1/capabilities', true],
  ['/v1/agentsx', false],
  ['/v1/receipts', false],
  ['/e/sim/v1/agents', false],
])('the errors of %s are problems: %s', (path, expected) => {
  expect(isProblemPath(path)).toBe(expected);
});
