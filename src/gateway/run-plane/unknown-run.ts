import { isoTime } from '../../base/clock.ts';
import { AbpError } from '../../contract/errors.ts';
import { PendingReceipt } from '../../contract/receipts/receipt.ts';
import { parseRunId, type RunId, runTime, runUuid } from '../../contract/run-id.ts';
import { isShared } from '../../store/nodes.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';

/** So long after its beginning nobody waits any more for another node to tell of a run; clocks may differ by as much. */
const RECENT_MS = 2 * 60_000;
const RETRY_SECONDS = '1';

/** The run id in a path or a query. */
export function runIdOf(text: string): RunId {
  const run = parseRunId(text);
  if (run === undefined)
    throw new AbpError('invalid_request', `"${text}" is not a run id: run_ and 32 hex digits, or a UUID.`, { run_id: text });
  return run;
}

/** The answer about a run that another node may know. */
export const NotYetKnown = PendingReceipt;

/**
 * The answer for a run that is not known here and may be known to another node, which tells the database a moment later; undefined
 * when there is no such node, or when the id is not of the last moments.
 */
export async function notYetKnown(gateway: Gateway, run: RunId): Promise<Reply | undefined> {
  const startedAt = runTime(run);
  if (startedAt === undefined || Math.abs(Date.now() - startedAt) >= RECENT_MS) return undefined;
  if (!(await isShared(gateway.store, gateway.home.nodeId))) return undefined;
  const pending: PendingReceipt = { id: runUuid(run), run_id: run, status: 'pending', started_at: isoTime(startedAt) };
  return new Reply(202, pending, { 'retry-after': RETRY_SECONDS });
}
