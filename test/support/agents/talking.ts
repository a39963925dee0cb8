import { createInterface } from 'node:readline';
import { begin, print, say, succeed } from './print.ts';

/**
 * Answers its prompt and every line on its input, and then only waits for more. `tool` makes it use a tool before it answers, `quit` makes
 * it end without an answer, `interrupt` stops it without one.
 */
begin();

function answer(text: string): void {
  if (text.endsWith('tool')) {
    print({ type: 'tool_call_ready', toolCallId: 't1', toolName: 'look', input: {} });
    print({ type: 'tool_result', toolCallId: 't1', toolName: 'look', output: 'seen', durationMs: 1 });
  }
  say(text);
  print({ type: 'message_stop', text });
  succeed();
  print({ type: 'done' });
}

createInterface(process.stdin).on('line', (line) => {
  if (line === 'message quit') process.exit(0);
  if (line === 'interrupt') print({ type: 'done' });
  else answer(line);
});
if (process.argv[2] !== 'wait') answer(process.argv[2] ?? '');
