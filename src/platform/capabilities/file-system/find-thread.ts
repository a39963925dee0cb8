import { parentPort, workerData } from 'node:worker_threads';
import { ToolFailure } from '../../tools/tool.ts';
import { type Finding, type Search, search } from './search.ts';

async function answer(): Promise<Finding> {
  try {
    return { result: await search(workerData as Search) }; // what find.ts starts the thread with
  } catch (error) {
    // A class does not survive the way to another thread; its words do.
    if (error instanceof ToolFailure) return { failure: error.message };
    throw error;
  }
}

parentPort?.postMessage(await answer());
