import type { RunId } from '../../contract/run-id.ts';
import { runExists } from '../../contract/runs/run-error.ts';
import { getReceipt } from '../../store/receipts/receipts.ts';
import { getRun } from '../../store/runs/runs.ts';
import type { Gateway } from '../gateway.ts';

/** Takes an id for a run; throws `conflict`, with the place of the run, where one has it, had it, or is about to. */
export async function claimRun(gateway: Gateway, run: RunId): Promise<void> {
  const here = gateway.runPlane.claimed;
  if (here.has(run) || gateway.calls.live.pending(run) !== undefined) throw runExists(run);
  // Taken before the database is asked: of two claims at once one is the second.
  here.add(run);
  const [row, receipt] = await Promise.all([getRun(gateway.store, run), getReceipt(gateway.store, run)]).catch((error: unknown) => {
    here.delete(run);
    throw error;
  });
  if (row === undefined && receipt === undefined) return;
  here.delete(run);
  throw runExists(run);
}

/** The run has ended, and its receipt holds the id from now on; or it was never started. */
export function releaseRun(gateway: Gateway, run: RunId): void {
  gateway.runPlane.claimed.delete(run);
}
