import { expect, it } from 'vitest';
import { sessions } from './sessions.ts';

const at = { sessionId: 's1', cwd: '/p', timestamp: '2026-11-15T00:00:00Z', isSidechain: false };
const entry = (uuid: string, parentUuid: string | null, type: string, message: object): string =>
  JSON.stringify({ ...at, uuid, parentUuid, type, message: { role: type, ...message } });

const TEXT = [
  JSON.stringify({ type: 'queue-operation', sessionId: 's1' }),
  entry('u1', null, 'user', { content: [{ type: 'text', text: 'hi' }] }),
  entry('a0', 'u1', 'assistant', { id: 'm0', content: [{ type: 'text', text: 'left behind' }] }),
  JSON.stringify({ ...at, uuid: 'x1', parentUuid: 'u1', type: 'attachment' }),
  entry('a1', 'x1', 'assistant', { id: 'm1', model: 'opus', content: [{ type: 'thinking', thinking: 'hm' }] }),
  entry('a2', 'a1', 'assistant', {
    id: 'm1',
    model: 'opus',
    content: [{ type: 'tool_use', id: 'c1', name: 'Read', input: { file_path: '/a' } }],
  }),
  entry('u2', 'a2', 'user', { content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'body', is_error: true }] }),
  entry('a3', 'u2', 'assistant', { id: 'm2', model: 'opus', content: [{ type: 'text', text: 'ho' }] }),
  '{"half',
].join('\n');

it('reads the branch that the session is on, with answers in one piece', () => {
  if (sessions.kind !== 'files') throw new Error('files expected');
  const timestamp = 1794700800000;
  expect(sessions.messages(TEXT)).toEqual([
    { role: 'user', content: 'hi', timestamp },
    {
      role: 'assistant',
      content: '',
      timestamp,
      thinking: 'hm',
      model: 'opus',
      toolCalls: [{ toolCallId: 'c1', toolName: 'Read', input: { file_path: '/a' } }],
    },
    { role: 'tool', content: 'body', timestamp, toolResult: { toolCallId: 'c1', output: 'body', isError: true } },
    { role: 'assistant', content: 'ho', timestamp, model: 'opus' },
  ]);
  expect(sessions.summary({ path: 'projects/p/s1.jsonl', modifiedAt: 9 }, TEXT)).toEqual({
    sessionId: 's1',
    agent: 'claude',
    updatedAt: 9,
    turnCount: 2,
    title: 'hi',
    cwd: '/p',
    model: 'opus',
    createdAt: timestamp,
  });
});
