import { describe, expect, it } from 'vitest';
import { AbpError, ERRORS, isErrorCode } from '../contract/errors.ts';
import { toFailure } from './failure.ts';

describe('the hint of a failure', () => {
  it('points out a variable that is set here and that the server does not see', () => {
    const error = new AbpError('E007', 'Gemini has no key: set GEMINI_API_KEY', { variable: 'GEMINI_API_KEY' });
    expect(toFailure(error, { GEMINI_API_KEY: 'k' }).error.hint).toMatch(
      /^GEMINI_API_KEY is set here, but the server was started without it/,
    );
    expect(toFailure(error, {}).error.hint).toMatch(/^Set GEMINI_API_KEY where the server runs/);
  });

  it.each([
    [new AbpError('conflict', 'port 8088 on 127.0.0.1 is taken', {}, 'Choose another port.'), 'Choose another port.'],
    [new AbpError('not_found', 'There is no run r.', { run_id: 'r' }), /abp receipts list/],
    [new AbpError('invalid_request', '"r" is not a run id.', { run_id: 'r' }), /abp receipts list/],
    [new AbpError('not_found', 'Nobody signs in here.', { section: 'oidc' }), /adds \[oidc\] to its abp\.toml/],
    [new AbpError('not_found', 'There is no live key k.', { key_id: 'k' }), /abp keys list/],
    [new AbpError('not_found', 'There is no agent a.', { agent_id: 'a' }), /abp agents list/],
    [new AbpError('not_found', 'There is no engine "x".', { engine: 'x' }), /abp capabilities/],
    [new AbpError('E007', 'Claude has no key: set ANTHROPIC_API_KEY'), /Set the key that the message names/],
    [new AbpError('E007', 'Claude has no key', { variable: 'ANTHROPIC_API_KEY' }), /^Set ANTHROPIC_API_KEY where the server runs/],
    [
      new AbpError('E007', 'vLLM at http://a:1 cannot be reached', { url: 'http://a:1', backend_id: 'engine:vllm' }),
      'Look whether something answers at http://a:1; the address is url in [engines.vllm] of abp.toml.',
    ],
    [new AbpError('not_found', 'There are no bodies.', { run_id: 'r', recording: 'none' }), /abp recordings list/],
    [new AbpError('AGENT_NOT_INSTALLED', 'Claude Code is not installed', { agent: 'claude' }), /abp install claude/],
  ])('of "%s" names the next step', (error, hint) => {
    const told = toFailure(error).error.hint;
    if (typeof hint === 'string') expect(told).toBe(hint);
    else expect(told).toMatch(hint);
  });

  it.each(Object.keys(ERRORS).filter(isErrorCode))('of %s is its remedy where nothing more is known', (code) => {
    expect(toFailure(new AbpError(code, 'x')).error.hint).toBe(ERRORS[code].remedy);
  });
});
