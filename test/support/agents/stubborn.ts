import { spawn } from 'node:child_process';
import { begin, forEver, print } from './print.ts';

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  process.on(signal, () => print({ type: 'debug', level: 'info', message: signal }));
// One child stays in the group, the other leaves it as a daemon does.
const idle = "for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => {}); setInterval(() => {}, 60000)";
const near = spawn(process.execPath, ['-e', idle], { stdio: 'ignore' });
const far = spawn(process.execPath, ['-e', idle], { stdio: 'ignore', detached: true });
begin();
print({ type: 'debug', level: 'info', message: `pids ${process.pid} ${near.pid} ${far.pid}` });
forEver();
