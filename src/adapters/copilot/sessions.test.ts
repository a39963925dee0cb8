import { expect, it } from 'vitest';
import { sessions } from './sessions.ts';

const timestamp = '2026-11-15T00:00:00Z';
const at = 1794700800000;
const entry = (type: string, data: object): string => JSON.stringify({ type, data, timestamp });
const TEXT = [
  entry('session.start', { sessionId: 's1', startTime: timestamp, context: { cwd: '/p' } }),
  entry('user.message', { content: 'hi', transformedContent: '<current_datetime>hi' }),
  entry('system.message', { content: 'be good' }),
  entry('assistant.message', {
    content: 'ho',
    reasoningText: 'hm',
    model: 'gpt-x',
    toolRequests: [{ toolCallId: 'c1', name: 'view', arguments: { path: '/a' } }],
  }),
  entry('tool.execution_complete', { toolCallId: 'c1', success: false, error: { message: 'no' } }),
].join('\n');

it('reads the events of a session', () => {
  if (sessions.kind !== 'files') throw new Error('files expected');
  expect(sessions.messages(TEXT)).toEqual([
    { role: 'user', content: 'hi', timestamp: at },
    {
      role: 'assistant',
      content: 'ho',
      timestamp: at,
      thinking: 'hm',
      model: 'gpt-x',
      toolCalls: [{ toolCallId: 'c1', toolName: 'view', input: { path: '/a' } }],
    },
    { role: 'tool', content: 'no', timestamp: at, toolResult: { toolCallId: 'c1', output: 'no', isError: true } },
  ]);
  expect(sessions.summary({ path: 'x', modifiedAt: 9 }, TEXT)).toEqual({
    sessionId: 's1',
    agent: 'copilot',
    updatedAt: 9,
    turnCount: 1,
    title: 'hi',
    cwd: '/p',
    model: 'gpt-x',
    createdAt: at,
  });
});
