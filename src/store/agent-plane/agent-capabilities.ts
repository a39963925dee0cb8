import type { Transaction } from 'kysely';
import { uuidv7Hex } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { storableText } from '../text.ts';

/** A capability on an agent; lower positions come first. */
export interface AgentCapabilityRow {
  readonly capabilityId: string;
  readonly position: number;
}

export interface CapabilityAssignment {
  readonly agentId: string;
  /** Ids in their order; the index becomes the position. */
  readonly capabilityIds: readonly string[];
  /** Replaces the agent's document in the same transaction, for settings that belong to the capabilities. */
  readonly document?: JsonObject | undefined;
  /** Changes nothing unless this is still the agent's revision. */
  readonly ifRevision?: number | undefined;
  readonly at: number;
}

export async function listAgentCapabilities(store: Store, agentId: string): Promise<readonly AgentCapabilityRow[]> {
  const rows = await store.db
    .selectFrom('agent_capabilities')
    .select(['capability_id', 'position'])
    .where('agent_id', '=', storableText(agentId))
    .orderBy('position')
    .orderBy('capability_id')
    .execute();
  return rows.map((row) => ({ capabilityId: row.capability_id, position: row.position }));
}

/** The capabilities of several agents, by agent. */
export async function listCapabilitiesOf(
  store: Store,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly AgentCapabilityRow[]>> {
  if (agentIds.length === 0) return new Map();
  const rows = await store.db
    .selectFrom('agent_capabilities')
    .select(['agent_id', 'capability_id', 'position'])
    .where('agent_id', 'in', [...agentIds])
    .orderBy('position')
    .orderBy('capability_id')
    .execute();
  const byAgent = Map.groupBy(rows, (row) => row.agent_id);
  return new Map(
    [...byAgent].map(([id, group]) => [id, group.map((row) => ({ capabilityId: row.capability_id, position: row.position }))]),
  );
}

/** Replaces the agent's capabilities, all or none; false when there is no such agent, or none of that revision. */
export async function setAgentCapabilities(store: Store, assignment: CapabilityAssignment): Promise<boolean> {
  const { agentId, document, ifRevision, at } = assignment;
  return await store.db.transaction().execute(async (db) => {
    // The update comes first: it holds the agent's row, so that two assignments take turns.
    let update = db
      .updateTable('agents')
      .set((eb) => ({
        revision: eb('revision', '+', 1),
        updated_at: at,
        ...(document === undefined ? {} : { document: JSON.stringify(document) }),
      }))
      .where('id', '=', storableText(agentId));
    if (ifRevision !== undefined) update = update.where('revision', '=', ifRevision);
    const agent = await update.executeTakeFirst();
    if (agent.numUpdatedRows === 0n) return false;
    await db.deleteFrom('agent_capabilities').where('agent_id', '=', agentId).execute();
    await insertCapabilities(db, assignment);
    return true;
  });
}

export async function insertCapabilities(
  db: Transaction<Tables>,
  { agentId, capabilityIds, at }: Pick<CapabilityAssignment, 'agentId' | 'capabilityIds' | 'at'>,
): Promise<void> {
  const rows = capabilityIds.map((id, position) => ({
    id: uuidv7Hex(),
    agent_id: agentId,
    capability_id: storableText(id),
    position,
    created_at: at,
  }));
  if (rows.length > 0) await db.insertInto('agent_capabilities').values(rows).execute();
}

/** Agents that have the capability enabled. */
export async function agentsWithCapability(
  store: Store,
  capabilityId: string,
): Promise<readonly { readonly agentId: string; readonly keyId: string | null }[]> {
  const rows = await store.db
    .selectFrom('agent_capabilities')
    .innerJoin('agents', 'agents.id', 'agent_capabilities.agent_id')
    .select(['agent_capabilities.agent_id', 'agents.key_id'])
    .where('agent_capabilities.capability_id', '=', storableText(capabilityId))
    .orderBy('agent_capabilities.agent_id')
    .execute();
  return rows.map((row) => ({ agentId: row.agent_id, keyId: row.key_id }));
}
