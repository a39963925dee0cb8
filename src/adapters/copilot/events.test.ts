import { expect, it } from 'vitest';
import { outline, planOf, told } from '../../../test/support/dialogue.ts';
import { dialogue } from './events.ts';

const line = (type: string, data: object = {}): string => JSON.stringify({ type, data });
const result = (exitCode = 0): string => JSON.stringify({ type: 'result', sessionId: 's1', exitCode });
const CREATE = { toolCallId: 'c1', toolName: 'create', arguments: { path: '/a', file_text: 'hi' } };

const play = (lines: readonly string[], options = {}) => told(dialogue(planOf('copilot', options)), lines);

it('tells pieces once although the whole follows', () => {
  const { events, outcome } = play([
    line('session.skills_loaded'),
    line('assistant.turn_start', { turnId: '0' }),
    line('assistant.reasoning_delta', { deltaContent: 'hm' }),
    line('assistant.message_delta', { deltaContent: 'hel' }),
    line('assistant.message_delta', { deltaContent: 'lo' }),
    line('assistant.message', { content: 'hello', reasoningText: 'hm', toolRequests: [] }),
    line('assistant.reasoning', { content: 'hm' }),
    line('assistant.turn_end', { turnId: '0' }),
    result(),
  ]);
  expect(events).toEqual([
    { type: 'turn_start', turnIndex: 0 },
    { type: 'thinking_start' },
    { type: 'thinking_delta', delta: 'hm' },
    { type: 'thinking_stop', thinking: 'hm' },
    { type: 'message_start' },
    { type: 'text_delta', delta: 'hel' },
    { type: 'text_delta', delta: 'lo' },
    { type: 'message_stop', text: 'hello' },
    { type: 'turn_end', turnIndex: 0 },
    { type: 'session_start', sessionId: 's1', resumed: false },
    { type: 'session_end', sessionId: 's1', turnCount: 1 },
  ]);
  expect(outcome).toEqual({ ok: true });
});

it('tells whole messages where nothing was streamed', () => {
  const { events } = play([
    line('assistant.message', { content: 'hello', reasoningText: 'hm' }),
    line('assistant.reasoning', { content: 'hm' }),
  ]);
  expect(outline(events)).toEqual(['thinking_start', 'thinking_stop', 'message_start', 'message_stop']);
});

it('tells the input of a call in pieces, and the file it made', () => {
  const { events } = play([
    line('assistant.tool_call_delta', { toolCallId: 'c1', toolName: 'create', inputDelta: '{"pa' }),
    line('assistant.tool_call_delta', { toolCallId: 'c1', toolName: 'create', inputDelta: 'th"}' }),
    line('assistant.message', { content: '', toolRequests: [{ toolCallId: 'c1', name: 'create', arguments: CREATE.arguments }] }),
    line('tool.execution_start', CREATE),
    line('tool.execution_complete', {
      toolCallId: 'c1',
      success: true,
      fileEdits: [{ path: '/a', kind: 'create' }],
      result: { content: 'made' },
    }),
  ]);
  expect(events.map(({ type }) => type)).toEqual([
    'tool_call_start',
    'tool_input_delta',
    'tool_input_delta',
    'tool_call_ready',
    'file_create',
    'tool_result',
  ]);
  expect(events).toContainEqual({ type: 'file_create', path: '/a', byteCount: 2 });
});

it('tells what a command printed on both streams, and its exit code', () => {
  const bash = { toolCallId: 'c1', toolName: 'bash', arguments: { command: 'x' } };
  const { events } = play([
    line('tool.execution_start', bash),
    line('tool.shell_output', { toolCallId: 'c1', stream: 'stdout', text: 'a\n' }),
    line('tool.shell_output', { toolCallId: 'c1', stream: 'stderr', text: 'b\n' }),
    line('tool.execution_complete', {
      toolCallId: 'c1',
      success: true,
      result: { content: 'a\nb\n<shellId: 0 completed with exit code 3>' },
    }),
  ]);
  expect(events.slice(2)).toEqual([
    { type: 'shell_start', command: 'x', cwd: '/project' },
    { type: 'shell_stdout_delta', delta: 'a\n' },
    { type: 'shell_stderr_delta', delta: 'b\n' },
    expect.objectContaining({ type: 'shell_exit', exitCode: 3 }),
    expect.objectContaining({ type: 'tool_result', output: 'a\nb' }),
  ]);
});

it('tells a call that was not allowed', () => {
  const { events } = play([
    line('assistant.message', { content: '', toolRequests: [{ toolCallId: 'c1', name: 'create', arguments: {} }] }),
    line('tool.execution_complete', { toolCallId: 'c1', success: false, error: { message: 'denied by rule', code: 'denied' } }),
  ]);
  expect(events.slice(2)).toEqual([
    { type: 'approval_denied', interactionId: 'c1', reason: 'denied by rule' },
    { type: 'tool_error', toolCallId: 'c1', toolName: 'create', error: 'denied by rule' },
  ]);
});

it('reads tools of MCP servers by the names of the run', () => {
  const mcpServers = [{ name: 'my-probe', transport: 'stdio' as const, command: 'x' }];
  const { events } = play([line('tool.execution_start', { toolCallId: 'c1', toolName: 'my-probe-echo', arguments: {} })], { mcpServers });
  expect(events).toContainEqual({ type: 'mcp_tool_call_start', toolCallId: 'c1', server: 'my-probe', toolName: 'echo', input: {} });
});

it('tells retries, and a failure that was not overcome', () => {
  const failure = line('model.call_failure', { statusCode: 429, errorMessage: '{"error":{"message":"slow"}}' });
  const { events, outcome } = play([
    failure,
    line('assistant.turn_retry', { reason: 'rate_limit' }),
    failure,
    line('session.error', { errorType: 'rate_limit', message: 'gave up', statusCode: 429 }),
    result(1),
  ]);
  expect(events.slice(0, 2)).toEqual([
    { type: 'rate_limited' },
    { type: 'retry', attempt: 1, maxAttempts: 1, reason: 'rate_limit', delayMs: 0 },
  ]);
  expect(outcome).toEqual({ ok: false, code: 'RATE_LIMITED', message: 'gave up' });
});

it('forgets a failed call that a retry made good', () => {
  const lines = [
    line('model.call_failure', { statusCode: 500 }),
    line('assistant.turn_retry'),
    line('assistant.message', { content: 'ok' }),
    result(),
  ];
  expect(play(lines).outcome).toEqual({ ok: true });
});

it('tells a stop that its last line hides', () => {
  expect(play([line('abort', { reason: 'user' }), result()]).outcome).toEqual({
    ok: false,
    code: 'ABORTED',
    message: 'the agent was interrupted',
    limit: 'interrupted',
  });
});

it('tells an exit code that nothing explains', () => {
  expect(play([result(4)]).outcome).toEqual({ ok: false, code: 'INTERNAL', message: 'the agent ended with exit code 4' });
});
