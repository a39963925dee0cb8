import { expect, it } from 'vitest';
import { sessions } from './sessions.ts';

const TRANSCRIPT = [
  { role: 'user', message: { content: [{ type: 'text', text: '<timestamp>today</timestamp>\n<user_query>\nfix it\n</user_query>' }] } },
  {
    role: 'assistant',
    message: {
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', name: 'Grep', input: { pattern: 'x' } },
      ],
    },
  },
  { role: 'assistant', message: { content: [{ type: 'text', text: 'Done.' }] } },
  { type: 'turn_ended', status: 'completed' },
];
const TEXT = `${TRANSCRIPT.map((line) => JSON.stringify(line)).join('\n')}\n{"role":"assis`;

it('a transcript is a session under the name of its file', () => {
  if (sessions.kind !== 'files') throw new Error('transcripts are files');
  const file = { path: 'projects/home-me-repo/agent-transcripts/abc-1/abc-1.jsonl', modifiedAt: 5 };
  expect(sessions.summary(file, TEXT)).toEqual({ sessionId: 'abc-1', agent: 'cursor', title: 'fix it', updatedAt: 5, turnCount: 1 });
  expect(sessions.summary(file, '{"type":"turn_ended"}')).toBeUndefined();
});

it('its messages are what was asked and said', () => {
  if (sessions.kind !== 'files') throw new Error('transcripts are files');
  expect(sessions.messages(TEXT)).toEqual([
    { role: 'user', content: 'fix it' },
    { role: 'assistant', content: 'I look.\n\nDone.', toolCalls: [{ toolCallId: '', toolName: 'Grep', input: { pattern: 'x' } }] },
  ]);
});
