import { describe, expect, it } from 'vitest';
import { AbpError } from '../errors.ts';
import { AgentMuxError, AuthError, CapabilityError, ValidationError } from './run-error.ts';
import { parseRunOptions } from './run-options.ts';

describe('errors of runs', () => {
  it('are errors of the one table', () => {
    const error = new AgentMuxError('RATE_LIMITED', 'slow down');
    expect(AbpError.is(error)).toBe(true);
    expect(error.row).toMatchObject({ status: 429, type: 'RateLimited' });
    expect(error).toMatchObject({ code: 'RATE_LIMITED', recoverable: true, name: 'AgentMuxError' });
  });

  it('name the agent, the capability and the model', () => {
    const error = new CapabilityError({ agent: 'pi', capability: 'mcp', model: 'm' });
    expect(error).toMatchObject({
      code: 'CAPABILITY_ERROR',
      message: "Agent 'pi' does not support mcp",
      agent: 'pi',
      capability: 'mcp',
      model: 'm',
    });
    expect(error.details).toEqual({ agent: 'pi', capability: 'mcp', model: 'm' });
    expect(error).toBeInstanceOf(AgentMuxError);
  });

  it('carry the guidance of a missing login', () => {
    expect(new AuthError({ agent: 'codex', status: 'unauthenticated', guidance: ['log in'] })).toMatchObject({
      code: 'AUTH_ERROR',
      details: { agent: 'codex', status: 'unauthenticated', guidance: ['log in'] },
    });
  });
});

describe('options of a run', () => {
  it('name every field that is wrong', () => {
    expect(() => parseRunOptions({ prompt: 'hi', thinkingEffort: 'huge', colour: 1 })).toThrow(ValidationError);
    try {
      parseRunOptions({ prompt: 'hi', thinkingEffort: 'huge' });
    } catch (error) {
      expect(error).toMatchObject({
        code: 'VALIDATION_ERROR',
        fields: [
          { field: 'agent', message: 'is required' },
          { field: 'thinkingEffort', message: '"huge" is not one of low, medium, high, max' },
        ],
      });
    }
  });

  it('cannot resume and fork at once', () => {
    expect(() => parseRunOptions({ agent: 'claude', prompt: 'hi', sessionId: 'a', forkSessionId: 'b' })).toThrow(ValidationError);
  });
});
