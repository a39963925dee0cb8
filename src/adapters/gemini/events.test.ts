import { expect, it } from 'vitest';
import { outline, planOf, told } from '../../../test/support/dialogue.ts';
import { dialogue } from './events.ts';

const json = (line: object): string => JSON.stringify(line);
const INIT = json({ type: 'init', session_id: 's1', model: 'm' });
const said = (content: string): string => json({ type: 'message', role: 'assistant', content, delta: true });
const use = (id: string, name: string, parameters: object): string => json({ type: 'tool_use', tool_id: id, tool_name: name, parameters });
const got = (id: string, more: object = {}): string => json({ type: 'tool_result', tool_id: id, status: 'success', ...more });
const STATS = { total_tokens: 162, input_tokens: 150, output_tokens: 8, cached: 30 };
const RESULT = json({ type: 'result', status: 'success', stats: STATS });

const play = (lines: readonly string[], options = {}) => told(dialogue(planOf('gemini', options)), lines);

it('tells text in pieces, its own words only, and what was thought from the sums', () => {
  const { events, outcome } = play([INIT, json({ type: 'message', role: 'user', content: 'hi' }), said('hel'), said('lo'), RESULT]);
  expect(events).toEqual([
    { type: 'session_start', sessionId: 's1', resumed: false },
    { type: 'stream_fallback', capability: 'thinking', reason: 'the agent prints no thoughts in this form of output' },
    { type: 'turn_start', turnIndex: 0 },
    { type: 'message_start' },
    { type: 'text_delta', delta: 'hel' },
    { type: 'text_delta', delta: 'lo' },
    { type: 'message_stop', text: 'hello' },
    { type: 'turn_end', turnIndex: 0 },
    { type: 'token_usage', inputTokens: 150, outputTokens: 12, thinkingTokens: 4, cachedTokens: 30 },
    { type: 'session_end', sessionId: 's1', turnCount: 1 },
  ]);
  expect(outcome).toEqual({ ok: true });
});

it('begins a turn when the model is called again', () => {
  const lines = [INIT, use('a', 'read_file', { file_path: '/a' }), use('b', 'glob', {}), got('a'), got('b'), said('done'), RESULT];
  expect(outline(play(lines).events).filter((type) => type.startsWith('turn') || type.startsWith('file'))).toEqual([
    'turn_start',
    'file_read',
    'turn_end',
    'turn_start',
    'turn_end',
  ]);
});

it('does not invent the exit code of a command', () => {
  const { events } = play([use('a', 'run_shell_command', { command: 'false' }), got('a', { output: 'hey' })]);
  expect(events).toContainEqual({ type: 'shell_stdout_delta', delta: 'hey' });
  expect(events).toContainEqual(expect.objectContaining({ type: 'shell_exit', exitCode: null }));
});

it('reads tools of MCP servers by the names of the run', () => {
  const mcpServers = [{ name: 'my_probe', transport: 'stdio' as const, command: 'x' }];
  const { events } = play([use('a', 'mcp_my_probe_echo', {}), got('a', { output: 'ok' })], { mcpServers });
  expect(events).toContainEqual({ type: 'mcp_tool_result', toolCallId: 'a', server: 'my_probe', toolName: 'echo', output: 'ok' });
});

it('tells a failed tool', () => {
  const { events } = play([
    use('a', 'write_file', { file_path: '/a' }),
    got('a', { status: 'error', error: { type: 'x', message: 'no' } }),
  ]);
  expect(events).toContainEqual({ type: 'tool_error', toolCallId: 'a', toolName: 'write_file', error: 'no' });
  expect(outline(events)).not.toContain('file_write');
});

it.each([
  ['[API Error: {"error":{"code":401,"message":"bad key"}}]', { code: 'AUTH_ERROR', message: 'bad key' }],
  ['[API Error: {"error":{"code":429,"message":"slow"}}]', { code: 'RATE_LIMITED', message: 'slow' }],
  ['something else', { code: 'INTERNAL', message: 'something else' }],
])('reads the failure %s', (message, outcome) => {
  const line = json({ type: 'result', status: 'error', error: { type: 'unknown', message }, stats: {} });
  expect(play([INIT, line]).outcome).toEqual({ ok: false, ...outcome });
});

it('tells warnings and errors on the way', () => {
  const { events } = play([
    json({ type: 'error', severity: 'warning', message: 'w' }),
    json({ type: 'error', severity: 'error', message: 'e' }),
  ]);
  expect(events).toEqual([
    { type: 'debug', level: 'warn', message: 'w' },
    { type: 'error', code: 'INTERNAL', message: 'e', recoverable: true },
  ]);
});

it('is dead when it ends without a result, whatever its exit code is', () => {
  expect(play([INIT, said('hel')]).outcome).toMatchObject({ ok: false, code: 'AGENT_CRASH' });
});

it('cannot be spoken to while it prints lines', () => {
  expect(dialogue(planOf('gemini')).say({ kind: 'message', text: 'x' })).toBeUndefined();
});
