import { expect, it } from 'vitest';
import { sessions } from './sessions.ts';

const timestamp = '2026-11-15T00:00:00Z';
const at = 1794700800000;
const call = {
  id: 'c1',
  name: 'write_file',
  args: { file_path: '/a' },
  status: 'success',
  result: [{ functionResponse: { response: { output: 'ok' } } }],
};
const TEXT = [
  { sessionId: 's1', startTime: timestamp },
  { $set: { messages: [{ id: 'm0', timestamp, type: 'user', content: [{ text: '<session_context>x' }] }] } },
  { id: 'm1', timestamp, type: 'user', content: [{ text: 'hi' }] },
  { id: 'm2', timestamp, type: 'gemini', content: 'par' },
  {
    id: 'm2',
    timestamp,
    type: 'gemini',
    content: [{ text: 'hm', thought: true }, { text: 'ho' }],
    thoughts: [{ description: 'hm' }],
    model: 'g',
    toolCalls: [call],
  },
  { $set: { lastUpdated: timestamp } },
]
  .map((entry) => JSON.stringify(entry))
  .join('\n');

it('applies the changes of the log', () => {
  if (sessions.kind !== 'files') throw new Error('files expected');
  expect(sessions.messages(TEXT)).toEqual([
    { role: 'user', content: 'hi', timestamp: at },
    {
      role: 'assistant',
      content: 'ho',
      timestamp: at,
      thinking: 'hm',
      model: 'g',
      toolCalls: [{ toolCallId: 'c1', toolName: 'write_file', input: { file_path: '/a' } }],
    },
    { role: 'tool', content: 'ok', timestamp: at, toolResult: { toolCallId: 'c1', output: 'ok', isError: false } },
  ]);
  expect(sessions.summary({ path: 'x', modifiedAt: 9 }, TEXT)).toMatchObject({
    sessionId: 's1',
    title: 'hi',
    model: 'g',
    turnCount: 1,
    createdAt: at,
  });
});
