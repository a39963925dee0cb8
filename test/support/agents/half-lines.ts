import { setTimeout as sleep } from 'node:timers/promises';
import { begin } from './print.ts';

const write = (bytes: Uint8Array | string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(bytes, () => resolve());
  });

begin();
const line = Buffer.from(`${JSON.stringify({ type: 'text_delta', delta: 'Grüße 🌍' })}\r\n`);
// Every byte on its own: characters and lines are cut anywhere.
for (const byte of line) {
  await write(Uint8Array.of(byte));
  await sleep(1);
}
await write('this is no JSON\n');
await write('{"type":"outcome","ok":true}');
