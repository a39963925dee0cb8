import { expect, it } from 'vitest';
import { sessions } from './sessions.ts';

const timestamp = '2026-11-15T00:00:00Z';
const at = 1794700800000;
const item = (payload: object): string => JSON.stringify({ type: 'response_item', timestamp, payload });
const message = (role: string, text: string): string => item({ type: 'message', role, content: [{ type: 'input_text', text }] });

const TEXT = [
  JSON.stringify({ type: 'session_meta', timestamp, payload: { id: 's1', cwd: '/p', timestamp } }),
  JSON.stringify({ type: 'turn_context', timestamp, payload: { model: 'gpt-x' } }),
  message('developer', 'be good'),
  message('user', '<environment_context>here</environment_context>'),
  message('user', 'hi'),
  item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }),
  item({ type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{"cmd":"ls"}' }),
  item({ type: 'function_call_output', call_id: 'c1', output: 'Process exited with code 1\nOutput:\nno' }),
  message('assistant', 'ho'),
].join('\n');

it('reads the items of the model and leaves out what the agent says for the user', () => {
  if (sessions.kind !== 'files') throw new Error('files expected');
  expect(sessions.messages(TEXT)).toEqual([
    { role: 'user', content: 'hi', timestamp: at },
    {
      role: 'assistant',
      content: '',
      timestamp: at,
      thinking: 'hm',
      toolCalls: [{ toolCallId: 'c1', toolName: 'shell', input: { command: 'ls' } }],
    },
    {
      role: 'tool',
      content: 'Process exited with code 1\nOutput:\nno',
      timestamp: at,
      toolResult: { toolCallId: 'c1', output: 'Process exited with code 1\nOutput:\nno', isError: true },
    },
    { role: 'assistant', content: 'ho', timestamp: at },
  ]);
  expect(sessions.summary({ path: 'x', modifiedAt: 9 }, TEXT)).toMatchObject({
    sessionId: 's1',
    title: 'hi',
    cwd: '/p',
    model: 'gpt-x',
    turnCount: 2,
  });
});
