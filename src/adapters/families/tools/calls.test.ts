import { expect, it } from 'vitest';
import { ToolCalls } from './calls.ts';
import type { ToolReading } from './effects.ts';

const READING: ToolReading = {
  mcp: (name) => (name.startsWith('probe_') ? { server: 'probe', toolName: name.slice(6) } : undefined),
  effects: {
    bash: { does: 'shell', command: ['command'] },
    read: { does: 'read', path: ['path'] },
    write: { does: 'write', path: ['path'], content: ['content'] },
    edit: { does: 'patch', path: ['path'] },
    task: { does: 'subagent', prompt: ['prompt'] },
  },
};

function calls(): ToolCalls {
  let now = 0;
  const clock = {
    now: () => {
      now += 10;
      return now;
    },
  };
  return new ToolCalls(READING, '/project', clock);
}

it('tells a call once, however often its agent does', () => {
  const run = calls();
  const events = [
    ...run.start('1', 'read'),
    ...run.start('1', 'read'),
    ...run.piece('1', '{"path":'),
    ...run.ready('1', 'read', { path: 'a' }),
    ...run.ready('1', 'read', { path: 'a' }),
    ...run.run('1', 'read', { path: 'a' }),
    ...run.end('1', 'read', { failed: false, text: 'A' }),
    ...run.end('1', 'read', { failed: false, text: 'A' }),
    ...run.start('1', 'read'),
  ];
  expect(events).toEqual([
    { type: 'tool_call_start', toolCallId: '1', toolName: 'read' },
    { type: 'tool_input_delta', toolCallId: '1', delta: '{"path":' },
    { type: 'tool_call_ready', toolCallId: '1', toolName: 'read', input: { path: 'a' } },
    { type: 'file_read', path: 'a' },
    { type: 'tool_result', toolCallId: '1', toolName: 'read', output: 'A', durationMs: 10 },
  ]);
});

it('opens a call that is told at its end only', () => {
  expect(calls().end('1', 'other', { failed: true, text: 'no' })).toEqual([
    { type: 'tool_call_start', toolCallId: '1', toolName: 'other' },
    { type: 'tool_call_ready', toolCallId: '1', toolName: 'other', input: {} },
    { type: 'tool_error', toolCallId: '1', toolName: 'other', error: 'no' },
  ]);
});

it('tells what a command prints as it prints it, and the rest at the end', () => {
  const run = calls();
  run.run('1', 'bash', { command: 'make' });
  expect([...run.printed('1', 'a'), ...run.printed('1', 'ab'), ...run.printed('1', 'ab')]).toEqual([
    { type: 'shell_stdout_delta', delta: 'a' },
    { type: 'shell_stdout_delta', delta: 'b' },
  ]);
  expect(run.end('1', 'bash', { failed: true, text: 'abc', exitCode: 2 })).toEqual([
    { type: 'shell_stdout_delta', delta: 'c' },
    { type: 'shell_exit', exitCode: 2, durationMs: 10 },
    { type: 'tool_error', toolCallId: '1', toolName: 'bash', error: 'abc' },
  ]);
});

it('tells the folder a command runs in', () => {
  expect(calls().run('1', 'bash', { command: 'ls', workdir: '/elsewhere' })).toContainEqual({
    type: 'shell_start',
    command: 'ls',
    cwd: '/elsewhere',
  });
});

it('counts the bytes of a file and not its characters', () => {
  const run = calls();
  run.run('1', 'write', { path: 'a', content: 'ä' });
  expect(run.end('1', 'write', { failed: false, text: '', created: true })).toContainEqual({
    type: 'file_create',
    path: 'a',
    byteCount: 2,
  });
});

it('tells no write whose text it has not seen', () => {
  const run = calls();
  run.run('1', 'write', { path: 'a' });
  expect(run.end('1', 'write', { failed: false, text: 'done' }).map(({ type }) => type)).toEqual(['tool_result']);
});

it('makes a diff of an edit that comes without one', () => {
  const run = calls();
  run.run('1', 'edit', { path: 'a', edits: [{ oldText: 'one\ntwo\n', newText: 'three' }] });
  expect(run.end('1', 'edit', { failed: false, text: '' })).toContainEqual({ type: 'file_patch', path: 'a', diff: '-one\n-two\n+three\n' });
});

it('tells nothing of the effects of a tool that failed', () => {
  const run = calls();
  run.run('1', 'write', { path: 'a', content: 'x' });
  expect(run.end('1', 'write', { failed: true, text: 'denied' }).map(({ type }) => type)).toEqual(['tool_error']);
});

it('knows tools of MCP servers and sub-agents', () => {
  const run = calls();
  expect(run.run('1', 'probe_echo', { text: 'hi' })).toContainEqual({
    type: 'mcp_tool_call_start',
    toolCallId: '1',
    server: 'probe',
    toolName: 'echo',
    input: { text: 'hi' },
  });
  expect(run.end('1', 'probe_echo', { failed: false, text: 'hi' })).toContainEqual({
    type: 'mcp_tool_result',
    toolCallId: '1',
    server: 'probe',
    toolName: 'echo',
    output: 'hi',
  });
  expect(run.run('2', 'task', { prompt: 'look', subagent_type: 'explore' })).toContainEqual({
    type: 'subagent_spawn',
    subagentId: '2',
    agentName: 'explore',
    prompt: 'look',
  });
});
