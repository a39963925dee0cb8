import { createClient } from '../../src/node/client.ts';

/** Starts a run that waits, prints its id once the agent is there, and waits to be killed. */
const handle = createClient().run({ agent: 'claude', prompt: 'wait', engine: 'sim', cwd: process.argv[2] ?? '' });
handle.once('session_start', () => process.stdout.write(`${handle.runId}\n`));
await handle;
