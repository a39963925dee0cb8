// Started beside a test's PostgreSQL server with one argument, its folder. Standard input ends when the test process does, however it
// ends; what is left of the server then is stopped and removed.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const folder = process.argv[2] ?? '';
const pidFile = join(folder, 'data', 'postmaster.pid');

for await (const _ of process.stdin);

if (existsSync(pidFile)) {
  process.kill(Number.parseInt(readFileSync(pidFile, 'utf8'), 10), 'SIGQUIT');
  for (let tries = 0; tries < 100 && existsSync(pidFile); tries += 1) await sleep(50);
}
rmSync(folder, { recursive: true, force: true });
