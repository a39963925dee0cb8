import { agentsWithCapability } from '../../store/agent-plane/agent-capabilities.ts';
import { type CapabilityName, type CustomCapability, listCustomCapabilities } from '../../store/agent-plane/custom-capabilities.ts';
import type { Store } from '../../store/store.ts';
import { versionsIn } from './stored.ts';

/** Agents and capabilities that have a custom capability. */
export interface CapabilityUsers {
  readonly agents: readonly string[];
  readonly capabilities: readonly CustomCapability[];
}

/** Those that mean this very capability by its id: its owner's, and for one without an owner also those of keys that have none of that id. */
export async function usersOf(store: Store, { id, keyId }: CapabilityName): Promise<CapabilityUsers> {
  const all = await listCustomCapabilities(store);
  const owners = new Set(all.filter((one) => one.id === id).map((one) => one.keyId));
  const means = (user: string | null): boolean => user === keyId || (keyId === null && !owners.has(user));
  const agents = (await agentsWithCapability(store, id)).filter((agent) => means(agent.keyId)).map(({ agentId }) => agentId);
  const capabilities = all.filter(
    (one) => means(one.keyId) && versionsIn(one).some(({ dependencies }) => dependencies.some((dependency) => dependency.id === id)),
  );
  return { agents, capabilities };
}
