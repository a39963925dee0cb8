import type { RunGateway } from '../../gateway/run-plane/run-gateway.ts';
import { RunStarter } from '../../runtime/runs/run-starter.ts';
import { openCodingAgents } from '../coding-agents/open.ts';
import type { Context } from '../command.ts';
import { openGateway } from './gateway.ts';

/** The means to start an agent from this process. */
export interface LocalRun {
  readonly starter: RunStarter;
  readonly gateway: RunGateway;
}

export async function openLocalRun(context: Context): Promise<LocalRun> {
  const agents = await openCodingAgents(context);
  const gateway = await openGateway(context);
  return { gateway, starter: new RunStarter({ agents, homePath: gateway.home.path, env: context.io.env }) };
}
