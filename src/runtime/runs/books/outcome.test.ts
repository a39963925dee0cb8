import { describe, expect, it } from 'vitest';
import { AgentEvent, EVENT_NAMES } from '../../../contract/runs/event.ts';
import { endingOf, STOPS, type StopReason, stopIn } from './outcome.ts';

const exit = { code: 0, signal: null };
const base = { runId: 'run_1', agent: 'claude', timestamp: 1 };

describe('the end of a run', () => {
  it.each(Object.keys(STOPS) as StopReason[])('for the reason %s is told by an event, and the result has that reason', (reason) => {
    const draft = STOPS[reason].event({ maxTurns: 3 });
    const event = AgentEvent.parse({ ...base, ...draft });
    const ending = endingOf({ exit, outcome: { ok: true }, stderr: 'x' }, reason, false);
    const exitReason = reason === 'engine' ? 'failed' : reason;
    expect(ending).toMatchObject({ exitReason, error: { code: STOPS[reason].code, message: STOPS[reason].message, stderr: 'x' } });
    // An event of the union that ends a run means the same from the agent as from us.
    if (reason !== 'budget' && reason !== 'disk' && reason !== 'engine') expect(stopIn(event)).toBe(reason);
  });

  it.each([
    ['turn_limit', 'turn_limit', 'aborted', 'The run used all its turns.'],
    ['budget', 'budget', 'aborted', 'The run used up its budget.'],
    ['interrupted', 'interrupted', 'interrupted', undefined],
  ] as const)('at the agent’s own limit %s has that reason', (limit, exitReason, state, message) => {
    const ending = endingOf(
      { exit, outcome: { ok: false, code: 'ABORTED', message: 'words of the agent', limit }, stderr: '' },
      undefined,
      false,
    );
    expect(ending).toMatchObject({ exitReason, state });
    expect(ending.error?.message).toBe(message);
  });

  it('is read from these events and no others', () => {
    const samples: Record<string, object> = { timeout: { kind: 'inactivity' }, turn_limit: { maxTurns: 1 } };
    const ending = EVENT_NAMES.filter((type) => {
      const event = AgentEvent.safeParse({ ...base, type, ...samples[type] });
      return event.success && stopIn(event.data) !== undefined;
    });
    expect(ending).toEqual(['aborted', 'timeout', 'turn_limit']);
  });

  it.each(['AGENT_CRASH', 'PROTOCOL_HANDSHAKE_FAILED', 'PROTOCOL_INVALID_ENVELOPE', 'PROTOCOL_UNEXPECTED_MESSAGE'])(
    'as %s, which the program did not put into words, has its last words in the message',
    (code) => {
      const outcome = { ok: false, code, message: 'The sidecar ended with exit code 1 before its hello.' };
      const { error } = endingOf(
        { exit: { code: 1, signal: null }, outcome, stderr: 'starting\nno module named yaml\n' },
        undefined,
        false,
      );
      expect(error?.message).toBe(
        'The sidecar ended with exit code 1 before its hello. Its last words were: starting\nno module named yaml.',
      );
    },
  );
});
