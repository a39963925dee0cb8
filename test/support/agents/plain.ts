import { begin, print, say, succeed } from './print.ts';

begin();
print({ type: 'message_start' });
say('hello ');
say('world');
print({ type: 'message_stop', text: '' });
print({ type: 'tool_call_start', toolCallId: 't1', toolName: 'write' });
print({ type: 'tool_input_delta', toolCallId: 't1', delta: '{"path":' });
print({ type: 'tool_input_delta', toolCallId: 't1', delta: '"a"}' });
print({ type: 'tool_call_ready', toolCallId: 't1', toolName: 'write', input: { path: 'a' } });
print({ type: 'tool_result', toolCallId: 't1', toolName: 'write', output: 'ok', durationMs: 0 });
print({ type: 'token_usage', inputTokens: 10, outputTokens: 5 });
print({ type: 'cost', cost: { totalUsd: 0.25, inputTokens: 10, outputTokens: 5 } });
process.stderr.write('a remark\n');
succeed();
