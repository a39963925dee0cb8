import { AbpError } from '../../contract/errors.ts';
import type { CapabilityName } from '../../store/agent-plane/custom-capabilities.ts';
import { agentOfSession } from '../../store/agent-plane/sessions.ts';
import { isVisible, type Visible } from '../../store/agent-plane/visible.ts';
import type { AgentPlane } from '../agents/agent-plane.ts';
import { requireAgent, runsPrograms } from '../agents/agents.ts';
import { usersOf } from '../custom/users.ts';

const MOST = 1000;

/**
 * Refuses words to an agent that runs programs of this machine, for a caller who may not run them: the turn under way, or the next one,
 * may be that of somebody who may. An approval is such a word.
 */
export async function assertMaySteer(plane: AgentPlane, sessionId: string, visible: Visible): Promise<void> {
  const found = await agentOfSession(plane.store, sessionId);
  // A session that the caller does not see is none; `sendMessage` says so.
  if (found === undefined || !isVisible(found.keyId, visible)) return;
  const { agentId } = found;
  if (!(await remembered(plane, agentId, found.revision))) return;
  throw new AbpError(
    'forbidden',
    `The agent ${agentId} runs programs of this machine; speaking to it needs the token of the home or an admin key.`,
    { agent_id: agentId, scope: 'admin' },
  );
}

/**
 * Refuses a new version of a capability to a caller who may not run programs of this machine, where an agent has it that does: agents
 * take new versions by themselves.
 */
export async function assertMayPublish(plane: AgentPlane, capability: CapabilityName): Promise<void> {
  for (const agentId of await affectedAgents(plane, capability)) {
    if (!(await runsPrograms(plane, await requireAgent(plane, agentId)))) continue;
    throw new AbpError(
      'forbidden',
      `An agent that runs programs of this machine has the capability ${capability.id}; changing it needs the token of the home or an admin key.`,
      { capability_id: capability.id, scope: 'admin' },
    );
  }
}

/** The agents that have a capability, or one that brings it along. */
async function affectedAgents({ store }: AgentPlane, capability: CapabilityName): Promise<ReadonlySet<string>> {
  const found = new Map([[nameOf(capability), capability]]);
  const agents = new Set<string>();
  // A map is walked over what is added to it on the way.
  for (const [, needed] of found) {
    const users = await usersOf(store, needed);
    for (const agent of users.agents) agents.add(agent);
    for (const { id, keyId } of users.capabilities) found.set(nameOf({ id, keyId }), { id, keyId });
  }
  return agents;
}

function nameOf({ id, keyId }: CapabilityName): string {
  return `${keyId ?? ''}/${id}`;
}

async function remembered(plane: AgentPlane, agentId: string, revision: number): Promise<boolean> {
  const agents = plane.onHost;
  const before = agents.get(agentId);
  if (before?.revision === revision) return before.host;
  const host = await runsPrograms(plane, await requireAgent(plane, agentId));
  if (agents.size >= MOST) agents.clear();
  agents.set(agentId, { revision, host });
  return host;
}
