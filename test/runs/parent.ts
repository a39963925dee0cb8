import { systemClock } from '../../src/base/clock.ts';
import { passGates } from '../../src/runtime/runs/gated-run.ts';
import { Run } from '../../src/runtime/runs/run.ts';
import { fakeAdapter } from '../support/agents/test-adapter.ts';
import { knowledge, PaperGateway } from './paper.ts';

/** Runs an agent that nothing but SIGKILL ends, and prints its process ids. Somebody kills this process then. */
const [homePath = '', cwd = ''] = process.argv.slice(2);
const deps = { agents: knowledge, gateway: async () => new PaperGateway(), homePath, env: process.env, clock: systemClock };
const handle = new Run(passGates(fakeAdapter('stubborn'), { agent: 'claude', prompt: 'hi', cwd }, deps), deps);
handle.on('debug', ({ message }) => {
  if (message.startsWith('pids')) process.stdout.write(`${message}\n`);
});
await handle;
