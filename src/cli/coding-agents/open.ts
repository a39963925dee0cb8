import { loadConfig } from '../../gateway/config.ts';
import { configuredAccess } from '../../gateway/run-plane/engine-access.ts';
import { type CodingAgents, createCodingAgents } from '../../runtime/coding-agents/coding-agents.ts';
import type { Context } from '../command.ts';
import { withConfig } from '../config.ts';

/** The coding agents of this machine, with the engines of the configuration. */
export async function openCodingAgents({ io, configPath, homePath }: Context): Promise<CodingAgents> {
  const { config } = await withConfig(() => loadConfig({ env: io.env, homePath, ...(configPath !== undefined && { path: configPath }) }));
  return createCodingAgents({ env: io.env, engine: configuredAccess(config) });
}
