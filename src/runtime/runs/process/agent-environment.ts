import { newRunId, type RunId } from '../../../contract/run-id.ts';
import { Settlement } from '../books/settlement.ts';
import type { RunDeps } from '../deps.ts';
import type { GatedRun } from '../gated-run.ts';
import { prepare } from '../prepare.ts';
import type { Traffic } from '../traffic.ts';

/** How an agent is started by hand so that its model calls go through the gateway. */
export interface AgentEnvironment {
  readonly runId: RunId;
  readonly command: string;
  /** Variables to set; without those that every process has. */
  readonly env: Readonly<Record<string, string>>;
  /** What the agent must be started with, beside anything else. */
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
