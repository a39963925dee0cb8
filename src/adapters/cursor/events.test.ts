import { expect, it } from 'vitest';
import { planOf, told } from '../../../test/support/dialogue.ts';
import { dialogue } from './events.ts';

const json = (line: object): string => JSON.stringify(line);
const said = (text: string, more: object = {}): string =>
  json({ type: 'assistant', message: { content: [{ type: 'text', text }] }, ...more });
const call = (subtype: string, tool_call: object): string => json({ type: 'tool_call', subtype, call_id: 'c1', tool_call });

const play = (lines: readonly string[]) => told(dialogue(planOf('cursor', { approvalMode: 'yolo' })), lines).events;

it('tells two pieces that are alike twice', () => {
  const lines = [said('ha', { timestamp_ms: 1 }), said('ha', { timestamp_ms: 2 }), said('haha')];
  expect(play(lines).filter(({ type }) => type === 'message_stop')).toEqual([{ type: 'message_stop', text: 'haha' }]);
});

it('tells whole messages of versions that send no pieces', () => {
  expect(play([said('one'), said('two')]).filter(({ type }) => type === 'message_stop')).toEqual([
    { type: 'message_stop', text: 'one' },
    { type: 'message_stop', text: 'two' },
  ]);
});

it('tells a command with its exit code', () => {
  const args = { command: 'ls' };
  const events = play([
    call('started', { shellToolCall: { args } }),
    call('completed', { shellToolCall: { args, result: { success: { exitCode: 0, stdout: 'a\n', executionTime: 7 } } } }),
  ]);
  expect(events).toContainEqual({ type: 'shell_start', command: 'ls', cwd: '/project' });
  expect(events).toContainEqual({ type: 'shell_exit', exitCode: 0, durationMs: 7 });
  expect(events).toContainEqual({ type: 'tool_result', toolCallId: 'c1', toolName: 'shell', output: 'a\n', durationMs: 7 });
});

it('reads functions, tools of MCP servers and failures', () => {
  expect(play([call('started', { function: { name: 'todo', arguments: '{"a":1}' } })])).toContainEqual({
    type: 'tool_call_ready',
    toolCallId: 'c1',
    toolName: 'todo',
    input: { a: 1 },
  });
  const mcp = { mcpToolCall: { args: { providerIdentifier: 'probe', toolName: 'echo', args: { a: 1 } } } };
  expect(play([call('started', mcp)])).toContainEqual({
    type: 'mcp_tool_call_start',
    toolCallId: 'c1',
    server: 'probe',
    toolName: 'echo',
    input: { a: 1 },
  });
  const failed = { readToolCall: { args: { path: '/a' }, result: { error: { message: 'not there' } } } };
  expect(play([call('completed', failed)])).toContainEqual({ type: 'tool_error', toolCallId: 'c1', toolName: 'read', error: 'not there' });
});

it('reads counts where the version tells them', () => {
  const usage = { inputTokens: 5, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 1 };
  expect(play([json({ type: 'result', subtype: 'success', is_error: false, usage })])).toEqual([
    { type: 'token_usage', inputTokens: 9, outputTokens: 2, cachedTokens: 3 },
  ]);
});
