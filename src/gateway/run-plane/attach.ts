import type { RunId } from '../../contract/run-id.ts';
import { runsFolder, sweepRuns } from '../../runtime/runs/process/run-folder.ts';
import type { Gateway } from '../gateway.ts';
import { type Attached, AttachedRuns } from './attached-runs.ts';
import { releaseRun } from './claimed-runs.ts';
import { dropAdmission, runPort } from './run-port.ts';
import { startedRuns } from './runs.ts';

/** The runs that other processes of this home drive; their model traffic and their receipts are here. */
export function attachedRunsOf(gateway: Gateway): AttachedRuns {
  gateway.runPlane.attached ??= new AttachedRuns({
    closing: gateway.closing,
    end: (run, attached) => end(gateway, run, attached),
    drop: async (run) => {
      releaseRun(gateway, run);
      dropAdmission(gateway, run);
      await runPort(gateway).dropRunKey(run);
    },
    onFault: (error, run) => gateway.log.error({ error, run }, 'an attached run could not be closed'),
  });
  return gateway.runPlane.attached;
}

async function end(gateway: Gateway, run: RunId, { startedAt, endsWithOwner }: Attached): Promise<void> {
  // Its files, and whatever the agent left running.
  sweepRuns(runsFolder(gateway.home.installation));
  (await startedRuns(gateway))?.endPartsOf(run);
  const port = runPort(gateway);
  const spend = await port.spent(run, 'ended');
  await port.dropRunKey(run);
  const now = Date.now();
  await port.closed({
    run,
    at: now,
    status: endsWithOwner ? 'completed' : 'failed',
    reason: endsWithOwner ? null : 'interrupted',
    error: null,
    upstreamModel: null,
    eventCount: 0,
    usage: spend.calls === 0 ? null : spend.usage,
    toolCalls: [],
    cost: spend.nanoUsd === null ? null : { nano_usd: spend.nanoUsd, price_version: spend.priceVersion ?? '' },
    lastByteMs: Math.max(0, now - startedAt),
    workspaceDelta: null,
    backendVersion: null,
  });
}
