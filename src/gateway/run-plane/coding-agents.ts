import type { CodingAgents } from '../../runtime/coding-agents/coding-agents.ts';
import type { Gateway } from '../gateway.ts';

const made = new WeakMap<Gateway, Promise<CodingAgents>>();

/** The coding agents of a server. Adapters are loaded when somebody first asks, so that a start does not wait for them. */
export function codingAgentsOf(gateway: Gateway): Promise<CodingAgents> {
  const before = made.get(gateway);
  if (before !== undefined) return before;
  const making = make(gateway);
  made.set(gateway, making);
  return making;
}

async function make({ deployments }: Gateway): Promise<CodingAgents> {
  const { createCodingAgents } = await import('../../runtime/coding-agents/coding-agents.ts');
  const engines = [...deployments.values()].map(
    ({ engine, origin, basePath, key }) => [engine.id, { url: `${origin}${basePath}`, key }] as const,
  );
  return createCodingAgents({ engines: Object.fromEntries(engines.filter(([, { url }]) => url !== '')) });
}
