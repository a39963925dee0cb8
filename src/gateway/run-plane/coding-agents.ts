import type { CodingAgents } from '../../runtime/coding-agents/coding-agents.ts';
import type { Gateway } from '../gateway.ts';

/** The coding agents of a server. Adapters are loaded when somebody first asks, so that a start does not wait for them. */
export function codingAgentsOf(gateway: Gateway): Promise<CodingAgents> {
  gateway.runPlane.agents ??= make(gateway);
  return gateway.runPlane.agents;
}

async function make({ calls: { deployments } }: Gateway): Promise<CodingAgents> {
  const { createCodingAgents } = await import('../../runtime/coding-agents/coding-agents.ts');
  const engines = [...deployments.values()].map(
    ({ engine, origin, basePath, key }) => [engine.id, { url: `${origin}${basePath}`, key }] as const,
  );
  return createCodingAgents({ engines: Object.fromEntries(engines.filter(([, { url }]) => url !== '')) });
}
