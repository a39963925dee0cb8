import { expect, it } from 'vitest';
import { piSessions } from './sessions.ts';

const rule = piSessions({ agent: 'pi', folder: '.pi/agent/sessions' });
if (rule.kind !== 'files') throw new Error('sessions of pi are files');

const entry = (id: string, parentId: string | null, message: object): object => ({ type: 'message', id, parentId, message });
const TEXT = [
  { type: 'session', version: 3, id: 's1', timestamp: '2026-11-15T12:00:00.000Z', cwd: '/project' },
  entry('a', null, { role: 'system', content: '', timestamp: 1 }),
  entry('b', 'a', { role: 'user', content: 'write it', timestamp: 2 }),
  entry('x', 'b', { role: 'assistant', content: [{ type: 'text', text: 'abandoned' }], model: 'm', timestamp: 3 }),
  entry('c', 'b', {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm' },
      { type: 'toolCall', id: 'c1', name: 'write', arguments: { path: 'a' } },
    ],
    model: 'm2',
    timestamp: 4,
  }),
  entry('d', 'c', { role: 'toolResult', toolCallId: 'c1', content: [{ type: 'text', text: 'done' }], isError: false, timestamp: 5 }),
]
  .map((value) => JSON.stringify(value))
  .join('\n');

it('follows the branch that was written last', () => {
  expect(rule.messages(TEXT)).toEqual([
    { role: 'user', content: 'write it', timestamp: 2 },
    {
      role: 'assistant',
      content: '',
      timestamp: 4,
      thinking: 'hm',
      model: 'm2',
      toolCalls: [{ toolCallId: 'c1', toolName: 'write', input: { path: 'a' } }],
    },
    { role: 'tool', content: 'done', timestamp: 5, toolResult: { toolCallId: 'c1', output: 'done', isError: false } },
  ]);
});

it('sums a session up', () => {
  expect(rule.summary({ path: 'p/s.jsonl', modifiedAt: 9 }, TEXT)).toEqual({
    sessionId: 's1',
    agent: 'pi',
    title: 'write it',
    cwd: '/project',
    model: 'm2',
    createdAt: 1_794_744_000_000,
    updatedAt: 9,
    turnCount: 1,
  });
});

it('takes the name that was given to it', () => {
  const named = `${TEXT}\n{"type":"session_info","id":"e","parentId":"d","name":"The file"}`;
  expect(rule.summary({ path: 'p/s.jsonl', modifiedAt: 9 }, named)?.title).toBe('The file');
});

it('is no session without a header, and survives half a line', () => {
  expect(rule.summary({ path: 'p', modifiedAt: 0 }, '{"type":"message"}\n{"type":"mes')).toBeUndefined();
  expect(rule.messages('{"type":"message","message":{"role":"user","content":"old"}}\n{"ty')).toEqual([{ role: 'user', content: 'old' }]);
});

it('ends on entries whose parents go round in a circle', () => {
  const circle = [entry('a', 'b', { role: 'user', content: '1' }), entry('b', 'a', { role: 'user', content: '2' })];
  expect(rule.messages(circle.map((value) => JSON.stringify(value)).join('\n'))).toHaveLength(2);
});
