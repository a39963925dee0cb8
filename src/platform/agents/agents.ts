import { AbpError } from '../../contract/errors.ts';
import { type AgentCapabilityRow, listAgentCapabilities, setAgentCapabilities } from '../../store/agent-plane/agent-capabilities.ts';
import { deleteAgent, getAgent, createAgent as insertAgent, updateAgent as writeAgent } from '../../store/agent-plane/agents.ts';
import { type Agent, type AgentDocument, agentOf, type CapabilitySettings, documentOf } from './agent.ts';
import { agentModel } from './agent-model.ts';
import type { AgentPlane } from './agent-plane.ts';
import { type ComposedAgent, type ComposeHost, type Composition, composeAgent } from './compose.ts';
import { resolveCapabilities, type Selection } from './resolve.ts';

/** A new agent, as a caller asks for it. */
export interface AgentInput extends Readonly<Omit<AgentDocument, 'settings'>> {
  readonly name: string;
  readonly tags: readonly string[];
  readonly capabilities: readonly Selection[];
}

/** Members that are absent stay as they are. */
export type AgentChanges = Partial<Omit<AgentInput, 'capabilities'> & Pick<Agent, 'status'>>;

/** An agent with its capabilities. */
export interface AgentWithCapabilities {
  readonly agent: Agent;
  readonly capabilities: readonly AgentCapabilityRow[];
  /** Remarks for the caller who changed it. */
  readonly warnings: readonly string[];
}

/** Who asks for a change. */
export interface Caller {
  /** The key that owns what is made; null for callers without one. */
  readonly keyId: string | null;
  /** Whether the caller may enable tools that act on this machine outside a sandbox. */
  readonly hostAllowed: boolean;
}

/** Somebody else changed the agent at the same moment; reading it again is cheap. */
const ATTEMPTS = 3;

export async function createAgent(plane: AgentPlane, caller: Caller, input: AgentInput): Promise<AgentWithCapabilities> {
  const composed = await checked(plane, caller, input);
  const { name, tags, capabilities, ...document } = input;
  const stored = await insertAgent(plane.store, {
    keyId: caller.keyId,
    name,
    tags,
    document: documentOf({ ...document, settings: settingsOf(capabilities) }),
    capabilityIds: capabilities.map(({ id }) => id),
    createdAt: plane.clock.now(),
  });
  return await withCapabilities(plane, agentOf(stored), composed.warnings);
}

/** The agent; `not_found` when there is none. The route decides whether its caller may see it. */
export async function requireAgent(plane: AgentPlane, id: string): Promise<Agent> {
  const stored = await getAgent(plane.store, id);
  if (stored === undefined) throw new AbpError('not_found', `There is no agent ${id}.`, { agent_id: id });
  return agentOf(stored);
}

export async function withCapabilities(plane: AgentPlane, agent: Agent, warnings: readonly string[] = []): Promise<AgentWithCapabilities> {
  return { agent, capabilities: await listAgentCapabilities(plane.store, agent.id), warnings };
}

export async function changeAgent(plane: AgentPlane, caller: Caller, id: string, changes: AgentChanges): Promise<AgentWithCapabilities> {
  return await retried(id, async () => {
    const agent = await requireAgent(plane, id);
    if (agent.status === 'archived' && changes.status !== 'active') throw archived(agent);
    await assertMayChange(plane, caller, agent);
    const { name, tags, status, ...rest } = changes;
    const next: Agent = { ...agent, ...rest };
    if (rest.model !== undefined) agentModel(next.model, plane.routes);
    if (rest.conflicts !== undefined) await composeAgent(hostFor(plane, ownedBy(agent, caller)), await compositionOf(plane, next));
    const changed = await writeAgent(plane.store, id, {
      name,
      tags,
      status,
      document: documentOf(next),
      updatedAt: plane.clock.now(),
      ifRevision: agent.revision,
    });
    return changed === undefined ? undefined : await withCapabilities(plane, agentOf(changed));
  });
}

/** The capabilities of an agent from now on; its conflict policy stays as it is unless it is named. */
export interface CapabilityChange {
  readonly capabilities: readonly Selection[];
  readonly conflicts?: Agent['conflicts'] | undefined;
}

/** Replaces the capabilities, all or none; nothing changes when they cannot be put together. */
export async function setCapabilities(
  plane: AgentPlane,
  caller: Caller,
  id: string,
  wanted: CapabilityChange,
): Promise<AgentWithCapabilities> {
  return await retried(id, async () => {
    const agent = await requireAgent(plane, id);
    if (agent.status === 'archived') throw archived(agent);
    await assertMayChange(plane, caller, agent);
    const next: Agent = { ...agent, conflicts: wanted.conflicts ?? agent.conflicts, settings: settingsOf(wanted.capabilities) };
    const composed = await checked(plane, ownedBy(agent, caller), { ...next, capabilities: wanted.capabilities });
    const done = await setAgentCapabilities(plane.store, {
      agentId: id,
      capabilityIds: wanted.capabilities.map((selection) => selection.id),
      document: documentOf(next),
      ifRevision: agent.revision,
      at: plane.clock.now(),
    });
    return done ? await withCapabilities(plane, await requireAgent(plane, id), composed.warnings) : undefined;
  });
}

/**
 * Archives an active agent; deletes an archived one with everything that belongs to it. `endSessions` ends what its sessions still do;
 * without it the workers on their turns find them gone.
 */
export async function removeAgent(
  plane: AgentPlane,
  caller: Caller,
  id: string,
  endSessions?: (agentId: string) => Promise<void>,
): Promise<'archived' | 'deleted'> {
  const agent = await requireAgent(plane, id);
  if (agent.status === 'active') {
    await changeAgent(plane, caller, id, { status: 'archived' });
    return 'archived';
  }
  await assertMayChange(plane, caller, agent);
  await endSessions?.(id);
  await deleteAgent(plane.store, id);
  return 'deleted';
}

/** The agent as a turn uses it. Equal revisions compose to equal agents. */
export async function composeStoredAgent(plane: AgentPlane, agent: Agent, hostAllowed: boolean): Promise<ComposedAgent> {
  return await composeAgent(hostFor(plane, { keyId: agent.keyId, hostAllowed }), await compositionOf(plane, agent));
}

export async function compositionOf(plane: AgentPlane, agent: Agent): Promise<Composition> {
  const rows = await listAgentCapabilities(plane.store, agent.id);
  return {
    systemPrompt: agent.systemPrompt,
    conflicts: agent.conflicts,
    capabilities: rows.map(({ capabilityId }) => selectionOf(capabilityId, agent.settings[capabilityId])),
  };
}

export function hostFor(plane: AgentPlane, { keyId, hostAllowed }: Caller): ComposeHost {
  return { source: plane.registry.sourceFor(keyId), surroundings: plane.surroundings, hostAllowed };
}

function selectionOf(id: string, settings: CapabilitySettings | undefined): Selection {
  const { config, version } = settings ?? {};
  return { id, ...(config === undefined ? {} : { config }), ...(version === undefined ? {} : { version }) };
}

function settingsOf(capabilities: readonly Selection[]): AgentDocument['settings'] {
  const said = capabilities.filter(({ config, version }) => config !== undefined || version !== undefined);
  return Object.fromEntries(
    said.map(({ id, config, version }) => [
      id,
      { ...(config === undefined ? {} : { config: { ...config } }), ...(version === undefined ? {} : { version }) },
    ]),
  );
}

/** An agent is composed from what its owner may use, with the rights of the caller who changes it. */
function ownedBy(agent: Agent, caller: Caller): Caller {
  return { keyId: agent.keyId, hostAllowed: caller.hostAllowed };
}

/** Whether an agent has tools that act on this machine outside a sandbox. No tool is asked, so nothing is started. */
export async function runsPrograms(plane: AgentPlane, agent: Agent): Promise<boolean> {
  const source = plane.registry.sourceFor(agent.keyId);
  const { capabilities } = await compositionOf(plane, agent);
  const resolved = await resolveCapabilities(source, capabilities).catch((error: unknown) => {
    // An agent that cannot be composed cannot run either, and its owner repairs it from here.
    if (AbpError.is(error) && error.code === 'unprocessable') return [];
    throw error;
  });
  return resolved.some(({ capability }) => capability.host === true);
}

/** A caller who may not run programs of this machine may not put words into the mouth of an agent that does. */
async function assertMayChange(plane: AgentPlane, caller: Caller, agent: Agent): Promise<void> {
  if (caller.hostAllowed || !(await runsPrograms(plane, agent))) return;
  throw new AbpError(
    'forbidden',
    `The agent ${agent.id} runs programs of this machine; changing it needs the token of the home or an admin key.`,
    {
      agent_id: agent.id,
      scope: 'admin',
    },
  );
}

/** Refuses what could never run: a repeated id, an unknown model, capabilities that do not fit together. */
async function checked(
  plane: AgentPlane,
  caller: Caller,
  input: Pick<AgentInput, 'systemPrompt' | 'model' | 'conflicts' | 'capabilities'>,
): Promise<ComposedAgent> {
  const ids = input.capabilities.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new AbpError('unprocessable', `The capability ${twice} is named twice.`, { capability_id: twice });
  agentModel(input.model, plane.routes);
  return await composeAgent(hostFor(plane, caller), input);
}

async function retried<T>(id: string, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < ATTEMPTS; count += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new AbpError('conflict', `The agent ${id} is being changed by somebody else.`, { agent_id: id });
}

function archived(agent: Agent): AbpError {
  return new AbpError('conflict', `The agent ${agent.id} is archived; make it active first.`, { agent_id: agent.id, status: agent.status });
}
