import { Worker } from 'node:worker_threads';
import type { JsonObject } from '../../../base/json.ts';
import { ownModule } from '../../../base/own-files.ts';
import { bareThreadStart } from '../../../base/threads.ts';
import { ToolFailure } from '../../tools/tool.ts';
import type { Finding, Search } from './search.ts';

const TIME_MS = 10_000;

/** Searches in a thread that can be ended: a pattern of a model may backtrack for ever, and nothing else interrupts it. */
export function find(search: Search, signal: AbortSignal): Promise<JsonObject> {
  const worker = new Worker(ownModule('platform/capabilities/file-system/find-thread'), {
    workerData: search,
    ...bareThreadStart(),
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
  const give = (words: string): void => reject(new ToolFailure(words));
  const timer = setTimeout(() => give(`The search took longer than ${TIME_MS / 1000} seconds; narrow it.`), TIME_MS);
  const abort = (): void => give('The search was given up.');
  signal.addEventListener('abort', abort, { once: true });
  worker.once('message', (finding: Finding) => ('failure' in finding ? give(finding.failure) : resolve(finding.result)));
  worker.once('error', reject);
  worker.once('exit', () => give('The search ended without an answer.'));
  return promise.finally(async () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  });
}
