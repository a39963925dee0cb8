import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import { EXITS, exitOfError } from './exit-codes.ts';

// Object.keys widens the names of a closed table to string.
const errorCodes = Object.keys(ERRORS) as ErrorCode[];

describe('exit codes', () => {
  it('are these and no others', () => {
    const codes = Object.entries(EXITS).map(([name, row]) => [name, row.code]);
    expect(codes).toEqual([
      ['ok', 0],
      ['general', 1],
      ['usage', 2],
      ['notFound', 3],
      ['refused', 4],
      ['auth', 5],
      ['unavailable', 6],
      ['config', 7],
      ['agentFailed', 8],
      ['interrupted', 130],
    ]);
  });

  it('follow from the error of the contract', () => {
    const byExit = Map.groupBy(errorCodes, (code) => EXITS[exitOfError(code)].code);
    expect(byExit.get(2)).toEqual(['invalid_request', 'unprocessable', 'VALIDATION_ERROR']);
    expect(byExit.get(3)).toEqual([
      'not_found',
      'replay_miss',
      'AGENT_NOT_FOUND',
      'SESSION_NOT_FOUND',
      'PROFILE_NOT_FOUND',
      'INTERACTION_NOT_FOUND',
      'UNKNOWN_AGENT',
    ]);
    expect(byExit.get(4)).toEqual([
      'E001',
      'E002',
      'E003',
      'E004',
      'E005',
      'E006',
      'budget_exceeded',
      'CAPABILITY_ERROR',
      'CONTEXT_EXCEEDED',
      'STDIN_NOT_AVAILABLE',
      'PTY_NOT_AVAILABLE',
    ]);
    expect(byExit.get(5)).toEqual(['unauthenticated', 'forbidden', 'AUTH_ERROR']);
    expect(byExit.get(6)).toEqual([
      'E007',
      'request_timeout',
      'rate_limited',
      'engine_failed',
      'overloaded',
      'engine_timeout',
      'AGENT_NOT_INSTALLED',
      'RATE_LIMITED',
    ]);
    expect(byExit.get(7)).toEqual(['CONFIG_ERROR', 'CONFIG_LOCK_ERROR']);
  });

  it('never call an error a success', () => {
    for (const code of errorCodes) expect(EXITS[exitOfError(code)].code).toBeGreaterThan(0);
  });
});
