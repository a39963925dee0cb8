import { createClient } from '../../src/node/client.ts';
import { greeter } from './adapter.ts';

const mux = createClient();
mux.adapters.register(greeter);
const run = mux.run({ agent: 'greeter', prompt: 'Say hello', engine: 'sim', thinkingEffort: 'low' });
run.on('message_stop', ({ text }) => process.stdout.write(`${text}\n`));
const { exitReason, model, tokenUsage, error } = await run;
process.stdout.write(`${exitReason}: ${model}, ${tokenUsage.total} tokens, abp receipts show ${run.runId}\n`);
if (error !== null) process.stderr.write(`${error.message}\n`);
await mux.close();
process.exitCode = exitReason === 'completed' ? 0 : 1;
