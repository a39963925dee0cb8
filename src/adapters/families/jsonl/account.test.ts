import { expect, it } from 'vitest';
import { planOf } from '../../../../test/support/dialogue.ts';
import { RunAccount, type Voice } from './account.ts';

const VOICE: Voice = { tools: { effects: {}, mcp: () => undefined }, guidance: 'log in' };
const CLOCK = { now: () => 0 };
const EXIT = { code: 0, signal: null };

const account = (options = {}): RunAccount => new RunAccount(planOf('a', options), VOICE, CLOCK);

it('tells a session once, and where it came from', () => {
  const run = account({ forkSessionId: 'old' });
  expect(run.begun('new')).toEqual([{ type: 'session_start', sessionId: 'new', resumed: false, forkedFrom: 'old' }]);
  expect(run.begun('new')).toEqual([]);
  expect(account({ sessionId: 's' }).begun('s')).toEqual([{ type: 'session_start', sessionId: 's', resumed: true }]);
});

it('ends a turn before the next one begins', () => {
  const run = account();
  expect(run.inTurn()).toEqual([{ type: 'turn_start', turnIndex: 0 }]);
  expect(run.inTurn()).toEqual([]);
  run.spoken.text('hi');
  expect(run.turnStarts()).toEqual([
    { type: 'message_stop', text: 'hi' },
    { type: 'turn_end', turnIndex: 0 },
    { type: 'turn_start', turnIndex: 1 },
  ]);
});

it('takes an agent that said nothing of its end for dead, whatever its exit code is', () => {
  expect(account().close(EXIT).outcome).toEqual({
    ok: false,
    code: 'AGENT_CRASH',
    message: 'the agent ended before it answered (exit code 0)',
  });
});

it('tells the last failure at the end', () => {
  const run = account();
  run.fail({ message: 'first', status: 500 });
  run.fail({ message: 'slow down', status: 429 });
  run.answered = true;
  const { events, outcome } = run.close(EXIT);
  expect(events).toEqual([{ type: 'rate_limit_error', message: 'slow down' }]);
  expect(outcome).toEqual({ ok: false, code: 'RATE_LIMITED', message: 'slow down' });
});

it('tells a limit of the run from a failure', () => {
  const run = account();
  run.answered = true;
  run.limit = 'turn_limit';
  expect(run.close(EXIT)).toEqual({
    events: [],
    outcome: { ok: false, code: 'ABORTED', message: 'the agent has used all its turns', limit: 'turn_limit' },
  });
});

it('takes the reason from the error output of an agent that ended without a word', () => {
  const exit = { code: 1, signal: null, stderr: "Error: No session, task, or name matched 'x'.\n" };
  expect(account().close(exit)).toEqual({
    events: [{ type: 'error', code: 'SESSION_NOT_FOUND', message: "No session, task, or name matched 'x'.", recoverable: false }],
    outcome: { ok: false, code: 'SESSION_NOT_FOUND', message: "No session, task, or name matched 'x'." },
  });
});

it('does not look there when the agent has answered, or was killed', () => {
  const stderr = 'rate limit reached, trying again\n';
  const run = account();
  run.answered = true;
  expect(run.close({ code: 0, signal: null, stderr }).outcome).toEqual({ ok: true });
  expect(account().close({ code: null, signal: 'SIGKILL', stderr }).outcome.code).toBe('AGENT_CRASH');
});
