import { redactor } from '../../base/redact.ts';
import type { CodingAgents } from '../../runtime/coding-agents/coding-agents.ts';
import { runsFolder, sweepRuns } from '../../runtime/runs/process/run-folder.ts';
import type { RunService } from '../../runtime/runs/service.ts';
import { stagesFolder, tidyStages } from '../../runtime/workspaces/stages.ts';
import { revokeRunKeys } from '../../store/keys.ts';
import { interruptRuns } from '../../store/runs/runs.ts';
import type { Gateway } from '../gateway.ts';
import { secretValues } from '../secret-values.ts';
import { releaseRun } from './claimed-runs.ts';
import { servedAccess } from './engine-access.ts';
import { dropAdmission, runPort } from './run-port.ts';

/** The runs of a server. The engine that drives them is loaded with the first one. */
export function runServiceOf(gateway: Gateway): Promise<RunService> {
  gateway.runPlane.service ??= makeService(gateway);
  return gateway.runPlane.service;
}

/** The runs of a server, where there has been one; nothing is loaded to find out that there was none. */
export function startedRuns(gateway: Gateway): Promise<RunService> | undefined {
  return gateway.runPlane.service;
}

async function makeService(gateway: Gateway): Promise<RunService> {
  const [{ RunService }, { RunStarter }, agents] = await Promise.all([
    import('../../runtime/runs/service.ts'),
    import('../../runtime/runs/run-starter.ts'),
    codingAgentsOf(gateway),
  ]);
  return new RunService({
    store: gateway.store,
    starter: new RunStarter({ agents, homePath: gateway.home.installation }),
    port: (owner) => runPort(gateway, owner),
    accepted: (run, keyId) => gateway.calls.live.begin(run, Date.now(), keyId),
    release: (run) => {
      releaseRun(gateway, run);
      dropAdmission(gateway, run);
    },
    node: gateway.home.nodeId,
    redact: redactor(gateway.config.recording.redact, secretValues(gateway.config, gateway.home.token)).text,
    onFault: (error) => gateway.log.error({ error }, 'what a run said could not be kept'),
  });
}

/** Ends agents that a killed process of this home left behind, and closes their rows; their receipts are closed by the keeper. */
export async function settleEarlierRuns(gateway: Gateway): Promise<void> {
  const { home, store, log } = gateway;
  tidy(gateway);
  const swept = sweepRuns(runsFolder(home.installation));
  const closed = await interruptRuns(store, home.nodeId, Date.now());
  const ended = [...new Set([...swept, ...closed])];
  // Somebody may have kept the key of a run that nobody could take back.
  await revokeRunKeys(store, ended, Date.now());
  if (ended.length > 0) log.warn({ runs: ended }, 'coding agents of an earlier process were ended');
  if (closed.length > 0) await import('./lost-runs.ts').then(({ keepLostRuns }) => keepLostRuns(gateway, closed));
}

const TIDY_MS = 3600 * 1000;

/** Stages grow old while a server runs, too. Returns what ends it. */
export function keepStagesTidy(gateway: Gateway): () => void {
  const timer = setInterval(() => tidy(gateway), TIDY_MS).unref();
  return () => clearInterval(timer);
}

function tidy({ home, log }: Gateway): void {
  const { restored, removal } = tidyStages(stagesFolder(home.installation));
  removal.catch((error: unknown) => log.error({ error }, 'old staged workspaces could not be removed'));
  if (restored.length > 0) log.warn({ runs: restored }, 'changes that an earlier process had begun to apply were taken back');
}

/** Ends every run before the server stops answering: their agents call it. */
export async function closeRuns(gateway: Gateway): Promise<void> {
  await (await gateway.runPlane.service)?.close();
}

/** Resolves when no run is under way. */
export async function runsIdle(gateway: Gateway): Promise<void> {
  await (await gateway.runPlane.service)?.idle();
}

/** The coding agents of a server. Adapters are loaded when somebody first asks, so that a start does not wait for them. */
export function codingAgentsOf(gateway: Gateway): Promise<CodingAgents> {
  gateway.runPlane.agents ??= makeAgents(gateway);
  return gateway.runPlane.agents;
}

async function makeAgents({ calls }: Gateway): Promise<CodingAgents> {
  const { createCodingAgents } = await import('../../runtime/coding-agents/coding-agents.ts');
  return createCodingAgents({ engine: servedAccess(calls) });
}
