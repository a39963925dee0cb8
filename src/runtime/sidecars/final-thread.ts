import { parentPort } from 'node:worker_threads';
import { type FinalRead, readFinal } from './finals.ts';

function read(line: string): FinalRead {
  try {
    return readFinal(line);
  } catch (error) {
    return { kind: 'invalid', reason: `its final could not be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

// `readAside` alone sends to this thread, and only lines.
parentPort?.on('message', (line: string) => parentPort?.postMessage(read(line)));
