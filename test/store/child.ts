// A process of its own for the tests of what several processes do to one home.
// Arguments: home, database URL or '', command. It prints `ready`, waits for a line on standard input, then works and prints what it did.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { openHome } from '../../src/home/home.ts';
import { openStore } from '../../src/store/database.ts';
import { saveReceipts } from '../../src/store/receipts/receipt-writer.ts';
import { receipt, unsaved } from './receipt-fixture.ts';

const [path = '', url = '', command = ''] = process.argv.slice(2);
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

async function insert(count: number): Promise<void> {
  const store = await openStore({ url, home: openHome({ path }) });
  const segment = `segment-${process.pid}`;
  for (let position = 1; position <= count; position += 1) {
    const row = receipt();
    await saveReceipts(store, { receipts: [unsaved(row)], mark: { segment, node: 'node_a', position } });
    say(row.runId);
  }
  await store.close();
}

const commands: Record<string, () => Promise<void>> = {
  open: async () => {
    const home = openHome({ path });
    say(`token ${home.token} ${home.nodeId}`);
    const store = await openStore({ url, home });
    await store.ping();
    say(`pg ${Object.keys(createRequire(import.meta.url).cache).some((file) => /node_modules.pg./.test(file)) ? 'loaded' : 'not loaded'}`);
    await store.close();
  },
  insert: () => insert(200),
  'insert-forever': () => insert(Number.POSITIVE_INFINITY),
  lock: async () => {
    const home = openHome({ path });
    home.lockServer();
    home.writeAddress({ url: 'http://127.0.0.1:18088', pid: process.pid });
    say('locked');
    await once(process.stdin, 'end');
  },
};

say('ready');
await once(process.stdin, 'data');
await commands[command]?.();
say('done');
process.stdin.destroy();
