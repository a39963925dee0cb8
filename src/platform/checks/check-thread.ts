import { parentPort } from 'node:worker_threads';
import { defaultFaults, schemaFault } from '../agents/schema-faults.ts';
import type { CheckOutcome, CheckTask } from './checks.ts';

async function outcomeOf(task: CheckTask): Promise<CheckOutcome> {
  switch (task.kind) {
    case 'yaml': {
      const { parse } = await import('yaml');
      // Aliases are how a few lines become gigabytes; nobody needs them here.
      return { value: parse(task.text, { schema: 'core', maxAliasCount: 0, logLevel: 'error' }) ?? {} };
    }
    case 'problem': {
      const { schemaProblem } = await import('../../negotiation/json-schema.ts');
      return { value: schemaProblem(task.schema, task.value) };
    }
    case 'schemas':
      return { value: await Promise.all(task.schemas.map(schemaFault)) };
    case 'defaults':
      return { value: await defaultFaults(task.schema) };
  }
}

parentPort?.on('message', (task: CheckTask) => {
  outcomeOf(task)
    .catch((error: unknown): CheckOutcome => ({ error: error instanceof Error ? error.message : String(error) }))
    .then((outcome) => parentPort?.postMessage(outcome));
});
parentPort?.postMessage('ready');
