import { copyToPost } from '../../base/bounded/buffers.ts';
import { Threads } from '../../base/bounded/thread-pool.ts';
import { mayHoldMore } from '../../base/json-limits.ts';
import { ownModule } from '../../base/own-files.ts';
import type { Arrived, Reading } from './reading.ts';

/** The thread's answer; `broken` is a fault of ours. */
export type ReadAside = { readonly reading: Reading } | { readonly broken: string };

/** Up to these measures a request is read in some milliseconds. */
const MOST_BYTES = 256 * 1024;
const MOST_VALUES = 5000;

const threads = new Threads<Omit<Arrived, 'body'> & { readonly body: Uint8Array }, ReadAside>({
  module: ownModule('engines/sim/reading-thread'),
  threads: 1,
  mostWaiting: 64,
  heapMb: 512,
  deadlineMs: 20_000,
});

/** Whether reading a request may take so long that other calls would wait: it is large, or has a regular expression of its caller to solve. */
export function isSlow(body: Buffer): boolean {
  return body.length > MOST_BYTES || (body.length > 2 * MOST_VALUES && mayHoldMore(body, MOST_VALUES)) || hasPattern(body);
}

/** Reads a request on another thread. */
export async function readAside({ json: _, body, ...arrived }: Arrived): Promise<Reading> {
  const outcome = await threads.run('', async () => {
    const bytes = await copyToPost(body);
    return { job: { ...arrived, body: bytes }, transfer: [bytes.buffer] };
  });
  if ('broken' in outcome) throw new Error(outcome.broken);
  return outcome.reading;
}

const PATTERN = Buffer.from('"pattern"');

/** Whether a schema in the body has a pattern; a member of that name that is no text is the name of a field. */
function hasPattern(body: Buffer): boolean {
  for (let at = body.indexOf(PATTERN); at !== -1; at = body.indexOf(PATTERN, at + 1)) {
    if (/^\s*:\s*"/.test(body.toString('latin1', at + PATTERN.length, at + PATTERN.length + 32))) return true;
  }
  return false;
}
