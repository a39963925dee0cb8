import { parentPort } from 'node:worker_threads';
import { type Arrived, readingOf } from './reading.ts';
import type { ReadAside } from './slow-requests.ts';

parentPort?.on('message', ({ body, ...arrived }: Omit<Arrived, 'body'> & { readonly body: Uint8Array }) => {
  let outcome: ReadAside;
  try {
    outcome = { reading: readingOf({ ...arrived, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }) };
  } catch (error) {
    outcome = { broken: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(outcome);
});
