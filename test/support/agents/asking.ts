import { createInterface } from 'node:readline';
import { begin, print, say, succeed } from './print.ts';

begin();
print({ type: 'approval_request', interactionId: 'q1', action: 'write', detail: 'a file', riskLevel: 'low' });
createInterface(process.stdin).on('line', (line) => {
  say(line);
  if (line.startsWith('message')) return;
  succeed();
  print({ type: 'done' });
});
