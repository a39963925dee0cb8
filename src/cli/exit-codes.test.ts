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
      ['interrupted', 130],
    ]);
  });

  it('follow from the error of the contract', () => {
    const byExit = Map.groupBy(errorCodes, (code) => EXITS[exitOfError(code)].code);
    expect(byExit.get(2)).toEqual(['invalid_request', 'unprocessable']);
    expect(byExit.get(3)).toEqual(['not_found']);
    expect(byExit.get(4)).toEqual(['E001', 'E002', 'E003', 'E004', 'E005', 'E006']);
    expect(byExit.get(5)).toEqual(['unauthenticated', 'forbidden']);
    expect(byExit.get(6)).toEqual(['E007', 'request_timeout', 'engine_failed', 'overloaded', 'engine_timeout']);
  });

  it('never call an error a success', () => {
    for (const code of errorCodes) expect(EXITS[exitOfError(code)].code).toBeGreaterThan(0);
  });
});
