import { systemClock } from '../../base/clock.ts';
import { openRunGateway, type RunGateway } from '../../gateway/run-plane/run-gateway.ts';
import type { CodingAgents } from '../../runtime/coding-agents/coding-agents.ts';
import type { RunDeps } from '../../runtime/runs/deps.ts';
import { runsFolder } from '../../runtime/runs/process/run-folder.ts';
import { openCodingAgents } from '../coding-agents/open.ts';
import type { Context } from '../command.ts';

/** What an agent that this process starts needs. */
export interface LocalRun {
  readonly agents: CodingAgents;
  readonly gateway: RunGateway;
  readonly deps: RunDeps;
}

export async function openLocalRun(context: Context): Promise<LocalRun> {
  const agents = await openCodingAgents(context);
  const gateway = await openRunGateway({ homePath: context.homePath, configPath: context.configPath });
  return {
    agents,
    gateway,
    deps: {
      agents: agents.knowledge,
      gateway: async () => gateway.port,
      runsFolder: runsFolder(gateway.home.path),
      env: context.io.env,
      clock: systemClock,
    },
  };
}
