import { expect, it } from 'vitest';
import { planOf, told } from '../../../test/support/dialogue.ts';
import { dialogue } from './events.ts';

const line = (type: string, part: object): string => JSON.stringify({ type, sessionID: 'ses_1', part });
const tool = (state: object, name = 'bash'): string => line('tool_use', { type: 'tool', tool: name, callID: 'c1', state });
const FINISH = line('step_finish', {
  reason: 'stop',
  tokens: { input: 5, output: 2, reasoning: 1, cache: { read: 3, write: 0 } },
  cost: 0.5,
});

it('tells whole parts, and that they come whole', () => {
  const { events, outcome } = told(dialogue(planOf('opencode')), [line('step_start', {}), line('text', { text: 'hello' }), FINISH]);
  const cost = {
    totalUsd: 0.5,
    inputTokens: 5,
    outputTokens: 2,
    thinkingTokens: 1,
    cachedTokens: 3,
    cacheReadTokens: 3,
    cacheCreationTokens: 0,
  };
  expect(events.filter(({ type }) => type !== 'stream_fallback')).toEqual([
    { type: 'session_start', sessionId: 'ses_1', resumed: false },
    { type: 'turn_start', turnIndex: 0 },
    { type: 'message_start' },
    { type: 'text_delta', delta: 'hello' },
    { type: 'message_stop', text: 'hello' },
    { type: 'token_usage', inputTokens: 5, outputTokens: 2, thinkingTokens: 1, cachedTokens: 3 },
    { type: 'cost', cost },
    { type: 'turn_end', turnIndex: 0, cost },
    { type: 'session_end', sessionId: 'ses_1', turnCount: 1, cost },
  ]);
  expect(events.filter(({ type }) => type === 'stream_fallback')).toHaveLength(3);
  expect(outcome).toEqual({ ok: true });
});

it('tells a command with its exit code and time', () => {
  const state = { status: 'completed', input: { command: 'false' }, output: '', metadata: { exit: 1 }, time: { start: 10, end: 35 } };
  const { events } = told(dialogue(planOf('opencode')), [tool(state)]);
  expect(events).toContainEqual({ type: 'shell_exit', exitCode: 1, durationMs: 25 });
});

it('ends well after a tool that was refused, with the refusal told', () => {
  const error = 'The user rejected permission to use this specific tool call.';
  const finish = line('step_finish', { reason: 'tool-calls', tokens: {} });
  const { events, outcome } = told(dialogue(planOf('opencode')), [tool({ status: 'error', input: {}, error }, 'write'), finish]);
  expect(events).toContainEqual({ type: 'approval_denied', interactionId: 'c1', reason: error });
  expect(outcome).toEqual({ ok: true });
});

it('has crashed when it ends after a tool call', () => {
  const finish = line('step_finish', { reason: 'tool-calls', tokens: {} });
  expect(told(dialogue(planOf('opencode')), [finish], { code: 1, signal: null }).outcome.code).toBe('AGENT_CRASH');
});

it('reads the status of an error', () => {
  const error = { name: 'APIError', data: { message: 'slow', statusCode: 429 } };
  expect(told(dialogue(planOf('opencode')), [JSON.stringify({ type: 'error', sessionID: 'ses_1', error })]).outcome).toEqual({
    ok: false,
    code: 'RATE_LIMITED',
    message: 'slow',
  });
});

it('knows which part of a tool’s name is the server', () => {
  const mcpServers = [{ name: 'my_server', transport: 'stdio', command: 'node' }] as never;
  const state = { status: 'completed', input: { text: 'hi' }, output: 'hi' };
  expect(told(dialogue(planOf('opencode', { mcpServers })), [tool(state, 'my_server_echo')]).events).toContainEqual({
    type: 'mcp_tool_result',
    toolCallId: 'c1',
    server: 'my_server',
    toolName: 'echo',
    output: 'hi',
  });
});
