import type { Selectable } from 'kysely';
import { uuidv7Hex } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { olderThan, type Page, type PageOptions, pageOf, pageSize } from '../page.ts';
import type { Store } from '../store.ts';
import { hasTag, storedTags, tagsColumn } from '../tags.ts';
import { damaged, storableText, storedObject } from '../text.ts';
import { insertCapabilities } from './agent-capabilities.ts';
import type { AgentsTable } from './agent-plane-schema.ts';
import { keysSeen, type Visible } from './visible.ts';

/** An archived agent can be read and nothing else. */
export type AgentStatus = 'active' | 'archived';

/** An agent as it is kept. What it is made of is in the document, which the agent plane reads and writes. */
export interface StoredAgent {
  readonly id: string;
  readonly keyId: string | null;
  readonly name: string;
  readonly status: AgentStatus;
  readonly tags: readonly string[];
  readonly document: JsonObject;
  /** Grows with every change that can change a turn: equal revisions compose to equal agents. */
  readonly revision: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewAgent {
  readonly keyId: string | null;
  readonly name: string;
  readonly tags?: readonly string[] | undefined;
  readonly document: JsonObject;
  /** Ids in their order; the index becomes the position. */
  readonly capabilityIds?: readonly string[] | undefined;
  readonly createdAt: number;
}

export interface AgentChange {
  readonly name?: string | undefined;
  readonly status?: AgentStatus | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly document?: JsonObject | undefined;
  readonly updatedAt: number;
  /** Changes nothing unless this is still the revision: the document is written as a whole. */
  readonly ifRevision?: number | undefined;
}

export interface AgentFilter extends PageOptions {
  readonly status?: AgentStatus | undefined;
  readonly tag?: string | undefined;
  readonly visible: Visible;
}

export async function createAgent(store: Store, agent: NewAgent): Promise<StoredAgent> {
  const row: Selectable<AgentsTable> = {
    id: `agent_${uuidv7Hex()}`,
    key_id: agent.keyId,
    name: storableText(agent.name),
    status: 'active',
    tags: tagsColumn(agent.tags ?? []),
    document: JSON.stringify(agent.document),
    revision: 1,
    created_at: agent.createdAt,
    updated_at: agent.createdAt,
  };
  await store.db.transaction().execute(async (db) => {
    await db.insertInto('agents').values(row).execute();
    await insertCapabilities(db, { agentId: row.id, capabilityIds: agent.capabilityIds ?? [], at: agent.createdAt });
  });
  return agentOf(row);
}

export async function getAgent(store: Store, id: string): Promise<StoredAgent | undefined> {
  const row = await store.db.selectFrom('agents').selectAll().where('id', '=', storableText(id)).executeTakeFirst();
  return row === undefined ? undefined : agentOf(row);
}

/** Newest first. */
export async function listAgents(store: Store, filter: AgentFilter): Promise<Page<StoredAgent>> {
  const size = pageSize(filter.limit);
  let query = store.db.selectFrom('agents').selectAll();
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  const keys = keysSeen(filter.visible);
  if (keys === null) query = query.where('key_id', 'is', null);
  else if (keys !== undefined) query = query.where('key_id', 'in', keys);
  if (filter.tag !== undefined) query = query.where(hasTag(store, filter.tag));
  if (filter.cursor !== undefined) query = query.where(olderThan(filter.cursor));
  const rows = await query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size + 1)
    .execute();
  return pageOf(rows.map(agentOf), size, (agent) => ({ time: agent.createdAt, id: agent.id }));
}

/** The agent after the change; undefined when there is none, or none of that revision. */
export async function updateAgent(store: Store, id: string, change: AgentChange): Promise<StoredAgent | undefined> {
  let query = store.db
    .updateTable('agents')
    .set((eb) => ({
      ...(change.name === undefined ? {} : { name: storableText(change.name) }),
      ...(change.status === undefined ? {} : { status: change.status }),
      ...(change.tags === undefined ? {} : { tags: tagsColumn(change.tags) }),
      ...(change.document === undefined ? {} : { document: JSON.stringify(change.document) }),
      updated_at: change.updatedAt,
      revision: eb('revision', '+', 1),
    }))
    .where('id', '=', storableText(id));
  if (change.ifRevision !== undefined) query = query.where('revision', '=', change.ifRevision);
  const row = await query.returningAll().executeTakeFirst();
  return row === undefined ? undefined : agentOf(row);
}

/** Removes the agent with its capabilities, sessions, turns and events; false when there is none. */
export async function deleteAgent(store: Store, id: string): Promise<boolean> {
  const result = await store.db.deleteFrom('agents').where('id', '=', storableText(id)).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

function agentOf(row: Selectable<AgentsTable>): StoredAgent {
  if (row.status !== 'active' && row.status !== 'archived') throw damaged('status of an agent', row.status);
  return {
    id: row.id,
    keyId: row.key_id,
    name: row.name,
    status: row.status,
    tags: storedTags(row.tags),
    document: storedObject('document of an agent', row.document),
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
