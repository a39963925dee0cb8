import { systemClock } from '../../src/base/clock.ts';
import { startRun } from '../../src/runtime/runs/start-run.ts';
import { fakeAdapter } from '../support/agents/test-adapter.ts';
import { knowledge, PaperGateway } from './paper.ts';

/** Runs an agent that nothing but SIGKILL ends, and prints its process ids. Somebody kills this process then. */
const [runsFolder = '', cwd = ''] = process.argv.slice(2);
const deps = { agents: knowledge, gateway: async () => new PaperGateway(), runsFolder, env: process.env, clock: systemClock };
const handle = startRun(fakeAdapter('stubborn'), { agent: 'claude', prompt: 'hi', cwd }, deps);
handle.on('debug', ({ message }) => {
  if (message.startsWith('pids')) process.stdout.write(`${message}\n`);
});
await handle;
