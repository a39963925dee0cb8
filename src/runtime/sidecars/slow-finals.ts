import { ThreadFailure, Threads } from '../../base/bounded/thread-pool.ts';
import { mayHoldMore } from '../../base/json-limits.ts';
import { ownModule } from '../../base/own-files.ts';
import type { FinalRead } from './finals.ts';

/** Up to these measures a final is read in some milliseconds. */
const MOST_CHARACTERS = 256 * 1024;
const MOST_VALUES = 5000;

const threads = new Threads<string, FinalRead>({
  module: ownModule('runtime/sidecars/final-thread'),
  threads: 1,
  // Each run has one; the limits on runs bound them.
  mostWaiting: 10_000,
  heapMb: 1024,
  deadlineMs: 20_000,
});

/** Whether reading a final may take so long that everybody else would wait: it has all that was said in its run. */
export function isSlow(line: string): boolean {
  return line.length > MOST_CHARACTERS || (line.length > 2 * MOST_VALUES && mayHoldMore(Buffer.from(line), MOST_VALUES));
}

/** Reads a final on another thread. A line that the thread cannot read is no final that anybody could. */
export async function readAside(refId: string, line: string): Promise<FinalRead> {
  try {
    return await threads.run(refId, () => ({ job: line }));
  } catch (error) {
    if (!(error instanceof ThreadFailure)) throw error;
    return { kind: 'invalid', reason: `its final could not be read: ${error.message}` };
  }
}
