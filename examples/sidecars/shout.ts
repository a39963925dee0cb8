// A sidecar in thirty lines: it says the task in capitals and leaves it in a file.
// abp sidecars check -- node examples/sidecars/shout.ts
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
// In a project of your own: from 'agent-backplane/sidecar'.
import { serveSidecar } from '../../src/sidecar/sidecar.ts';

await serveSidecar({
  id: 'shout',
  version: '1.0',
  capabilities: { streaming: 'native', tool_write: 'native' },
  // It asks before each of its tools, so orders may want that.
  extensions: ['tool_approval'],
  async run(order, run) {
    const wait = /wait (\d+) ms/.exec(order.task)?.[1];
    if (wait !== undefined) await sleep(Number(wait), undefined, { signal: run.signal });
    for (const word of order.task.split(' ')) run.delta(`${word.toUpperCase()} `);
    run.message(order.task.toUpperCase());
    const { approve, reason } = await run.approve({ name: 'Write', input: { file_path: 'SHOUT.txt' } });
    if (!approve) {
      run.warn(`SHOUT.txt was not written: ${reason}`);
      return { outcome: 'partial' };
    }
    writeFileSync(join(order.workspace.root, 'SHOUT.txt'), `${order.task.toUpperCase()}\n`);
    run.send({ type: 'file_changed', path: 'SHOUT.txt', summary: 'the task in capitals' });
    return { usage: { request_units: 1 } };
  },
});
