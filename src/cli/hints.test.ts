import { describe, expect, it } from 'vitest';
import { AbpError, ERRORS, isErrorCode } from '../contract/errors.ts';
import { toFailure } from './failure.ts';

describe('the hint of a failure', () => {
  it.each([
    [new AbpError('conflict', 'port 8088 on 127.0.0.1 is taken', {}, 'Choose another port.'), 'Choose another port.'],
    [new AbpError('not_found', 'There is no run r.', { run_id: 'r' }), /abp receipts list/],
    [new AbpError('not_found', 'There is no live key k.', { key_id: 'k' }), /abp keys list/],
    [new AbpError('not_found', 'There is no agent a.', { agent_id: 'a' }), /abp agents list/],
    [new AbpError('not_found', 'There is no engine "x".', { engine: 'x' }), /abp capabilities/],
    [new AbpError('E007', 'Claude has no key: set ANTHROPIC_API_KEY'), /Set the key that the message names/],
  ])('of "%s" names the next step', (error, hint) => {
    const told = toFailure(error).error.hint;
    if (typeof hint === 'string') expect(told).toBe(hint);
    else expect(told).toMatch(hint);
  });

  it.each(Object.keys(ERRORS).filter(isErrorCode))('of %s is its remedy where nothing more is known', (code) => {
    expect(toFailure(new AbpError(code, 'x')).error.hint).toBe(ERRORS[code].remedy);
  });
});
