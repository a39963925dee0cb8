import { expect, it } from 'vitest';
import { joinedAnswers, jsonlSessions, sessionMessage, timeAt } from './sessions.ts';

const rule = jsonlSessions({
  agent: 'claude',
  folder: '.a',
  pattern: '*.jsonl',
  facts: (entries) => ({ sessionId: entries.length === 0 ? undefined : 's1', cwd: '/p' }),
  messages: (entries) =>
    entries.map(({ role, text }) => sessionMessage({ role: role === 'user' ? 'user' : 'assistant', content: String(text) })),
});
const file = { path: 's1.jsonl', modifiedAt: 7 };

it('sums up a file, without the line that was cut off', () => {
  if (rule.kind !== 'files') throw new Error('files expected');
  const text = '{"role":"user","text":"hi"}\n{"role":"agent","text":"ho"}\n{"role":"us';
  expect(rule.summary(file, text)).toEqual({ sessionId: 's1', agent: 'claude', updatedAt: 7, turnCount: 1, title: 'hi', cwd: '/p' });
  expect(rule.messages(text)).toEqual([
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'ho' },
  ]);
  expect(rule.summary(file, '')).toBeUndefined();
});

it('joins the parts of one answer', () => {
  const call = { toolCallId: 'c', toolName: 't', input: {} };
  expect(
    joinedAnswers([
      { role: 'assistant', content: '', thinking: 'hm' },
      { role: 'assistant', content: 'a', toolCalls: [call] },
      { role: 'tool', content: 'r' },
      { role: 'assistant', content: 'b' },
    ]),
  ).toEqual([
    { role: 'assistant', content: 'a', thinking: 'hm', toolCalls: [call] },
    { role: 'tool', content: 'r' },
    { role: 'assistant', content: 'b' },
  ]);
});

it('reads times in both forms', () => {
  expect(timeAt('2026-11-15T00:00:00Z')).toBe(1794700800000);
  expect(timeAt(5)).toBe(5);
  expect(timeAt('soon')).toBeUndefined();
});
