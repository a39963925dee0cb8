import { type Exit, startProcess } from '../../../base/child-process.ts';
import { newRunId, type RunId } from '../../../contract/run-id.ts';
import { AgentMuxError } from '../../../contract/runs/run-error.ts';
import type { RunResult } from '../../../contract/runs/run-result.ts';
import { type Ending, failedEnding } from '../books/outcome.ts';
import { Settlement } from '../books/settlement.ts';
import { Tally } from '../books/tally.ts';
import type { RunDeps } from '../deps.ts';
import type { GatedRun } from '../gated-run.ts';
import { type Prepared, prepare } from '../prepare.ts';
import type { Traffic } from '../traffic.ts';
import { started } from './agent-process.ts';
import { endLeftovers } from './run-folder.ts';

export interface Launched extends Pick<RunResult, 'cost' | 'tokenUsage'> {
  readonly runId: RunId;
  readonly exit: Exit;
}

/** Shows the agent's own screen on our terminal, with its model calls through the gateway. `onReady` is called before it starts. */
export async function launchAgent(run: GatedRun, deps: RunDeps, onReady: (prepared: Prepared) => void): Promise<Launched> {
  const runId = newRunId();
  const settlement = new Settlement({ ...run, runId, deps });
  const port = await deps.gateway();
  settlement.through(port);
  let ending: Ending | undefined;
  try {
    const prepared = await prepare({ ...run, runId, deps, answerable: false, interactive: true }, port);
    await settlement.open(prepared);
    onReady(prepared);
    const exit = await shown(prepared);
    ending = { exitReason: 'completed', state: 'completed', exit, error: null };
    const { cost, tokenUsage } = await settlement.close(ending, new Tally());
    return { runId, exit, cost, tokenUsage };
  } catch (error) {
    if (ending === undefined) await settlement.close(failedEnding(error, undefined), new Tally());
    throw error;
  } finally {
    endLeftovers(runId);
  }
}

async function shown(prepared: Prepared): Promise<Exit> {
  const { plan, spec, folder } = prepared;
  const start = started(prepared);
  const child = await startProcess(
    { ...start, args: spec.args, cwd: plan.cwd, stdin: 'open', mode: 'terminal' },
    () => undefined, // a shared terminal is not read
  ).catch((error: unknown) => {
    throw new AgentMuxError(
      'SPAWN_ERROR',
      `${start.command} could not be started: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  folder.remember(child.pid);
  // Ctrl-C is meant for the agent: the terminal sends it to both.
  const ignored = (): void => undefined;
  process.on('SIGINT', ignored);
  try {
    return await child.exit;
  } finally {
    process.off('SIGINT', ignored);
  }
}

/** How an agent is started by hand so that its model calls go through the gateway. */
export interface AgentEnvironment {
  readonly runId: RunId;
  readonly command: string;
  /** Variables to set; without those that every process has. */
  readonly env: Readonly<Record<string, string>>;
  /** Arguments that the agent must get, beside any others. */
  readonly args: readonly string[];
  readonly traffic: Traffic;
}

/** Mints a key and writes the files that the variables point to. They last as long as the process `deps.ownerPid`, a shell. */
export async function agentEnvironment(run: GatedRun, deps: RunDeps & { readonly ownerPid: number }): Promise<AgentEnvironment> {
  const runId = newRunId();
  const settlement = new Settlement({ ...run, runId, deps });
  const port = await deps.gateway();
  settlement.through(port);
  const prepared = await prepare({ ...run, runId, deps, answerable: false, interactive: true }, port);
  prepared.folder.write(prepared.spec.files);
  prepared.folder.link(prepared.spec.links, prepared.env);
  await settlement.open(prepared);
  const { spec, command, traffic } = prepared;
  return { runId, command, env: spec.env, args: spec.args, traffic };
}
