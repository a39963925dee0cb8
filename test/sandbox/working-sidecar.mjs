// A sidecar that writes `result.txt` into its workspace, starts a process in another group, and never ends by itself.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const backend = { id: 'worker', backend_version: null, adapter_version: null };
const hello = { t: 'hello', contract_version: 'abp/v0.1', backend, capabilities: { streaming: 'native' }, mode: 'mapped' };
process.stdout.write(`${JSON.stringify(hello)}\n`);

createInterface(process.stdin)
  .on('line', (line) => {
    const { t, work_order: order } = JSON.parse(line);
    if (t !== 'run') return;
    spawn('sleep', ['600'], { stdio: 'ignore', detached: true }).unref();
    writeFileSync(join(order.workspace.root, 'result.txt'), 'worked\n');
    setInterval(() => undefined, 1000);
  })
  // The one who only greets it closes its input.
  .on('close', () => process.exit(0));
