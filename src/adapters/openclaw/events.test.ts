import fc from 'fast-check';
import { expect, it } from 'vitest';
import { planOf, told } from '../../../test/support/dialogue.ts';
import { dialogue } from './events.ts';

const printed = (value: object): string[] => JSON.stringify(value, null, 2).split('\n');
const ANSWER = {
  ok: true,
  status: 'ok',
  final: 'hello',
  usage: { input: 5, output: 2, cacheRead: 1, cacheWrite: 0, reasoningTokens: 3 },
  costUsd: 0.5,
  assistantTurns: 2,
  toolSummary: { calls: 2, tools: ['read', 'write'], failures: 1 },
  sessionId: 's1',
};

it('tells an object over many lines when it is whole', () => {
  const { events, outcome } = told(dialogue(planOf('openclaw')), ['warming up', ...printed(ANSWER)]);
  expect(outcome).toEqual({ ok: true });
  expect(events[0]).toEqual({ type: 'log', source: 'stdout', line: 'warming up' });
  expect(events).toContainEqual({ type: 'debug', level: 'info', message: 'tools used: read, write (calls: 2, failed: 1)' });
  expect(events).toContainEqual({ type: 'message_stop', text: 'hello' });
  expect(events).toContainEqual({ type: 'token_usage', inputTokens: 5, outputTokens: 2, thinkingTokens: 3, cachedTokens: 1 });
  expect(events.at(-1)).toMatchObject({ type: 'session_end', sessionId: 's1', turnCount: 2, cost: { totalUsd: 0.5 } });
});

it('fails in the words of the agent', () => {
  const failed = { ok: false, status: 'error', error: { message: '429 slow', kind: 'rate_limit' }, sessionId: 's1' };
  expect(told(dialogue(planOf('openclaw')), printed(failed), { code: 1, signal: null }).outcome).toEqual({
    ok: false,
    code: 'RATE_LIMITED',
    message: '429 slow',
  });
});

it('says so when the answer is cut, and when there is none', () => {
  expect(told(dialogue(planOf('openclaw')), printed(ANSWER).slice(0, 4)).outcome.message).toBe(
    'the output of the agent ended in the middle of its answer',
  );
  expect(told(dialogue(planOf('openclaw')), [], { code: null, signal: 'SIGKILL' }).outcome.code).toBe('AGENT_CRASH');
});

it('never throws', () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => void told(dialogue(planOf('openclaw')), printed(value))));
});
