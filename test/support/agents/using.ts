import { createInterface } from 'node:readline';
import { begin, print, say, succeed } from './print.ts';

/**
 * Uses the tool `look` once. The prompt says how: `unasked` at once, `asks` after an approval, `waits` after a hook, `asks otherwise`
 * after an approval that has an id of its own, `asks more` after one that tells more than the call did. It says what it was answered.
 */
const how = process.argv[2] ?? '';
const input = { path: 'a' };
const call = { toolCallId: 't1', toolName: 'look' };
const detail = JSON.stringify(how === 'asks more' ? { ...input, content: 'b' } : input);
const question = { type: 'approval_request', interactionId: 'q1', action: 'look', detail, toolName: 'look' };

function used(answer: string): void {
  const refused = answer.startsWith('deny') || answer.startsWith('stop');
  if (refused) print({ type: 'tool_error', ...call, error: 'not allowed' });
  else print({ type: 'tool_result', ...call, output: 'seen', durationMs: 1 });
  say(answer);
  print({ type: 'message_stop', text: answer });
  succeed();
  print({ type: 'done' });
}

begin();
if (how !== 'asks otherwise') print({ type: 'tool_call_ready', ...call, input });
if (how.startsWith('asks')) print({ ...question, riskLevel: 'low', toolCallId: how === 'asks otherwise' ? 'other' : 't1' });
if (how === 'waits') print({ type: 'waiting', waitId: 'w1', ...call, input });
createInterface(process.stdin).on('line', (line) => {
  if (how === 'asks otherwise') print({ type: 'tool_call_ready', ...call, input });
  used(line);
});
if (how === 'unasked') used('unasked');
