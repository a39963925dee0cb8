import type { Selectable, Transaction } from 'kysely';
import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { storableText, storedObject } from '../text.ts';
import type { CustomCapabilitiesTable } from './agent-plane-schema.ts';

/** A custom capability by its id, which is its owner's alone: null stands for those who have no key. */
export interface CapabilityName {
  readonly id: string;
  readonly keyId: string | null;
}

/** A capability that somebody defined through the API; the agent plane reads and writes its document. */
export interface CustomCapability extends CapabilityName {
  readonly document: JsonObject;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export async function createCustomCapability(store: Store, capability: Omit<CustomCapability, 'updatedAt'>): Promise<CustomCapability> {
  const row: Selectable<CustomCapabilitiesTable> = {
    owner: ownerOf(capability),
    id: storableText(capability.id),
    key_id: capability.keyId,
    document: JSON.stringify(capability.document),
    created_at: capability.createdAt,
    updated_at: capability.createdAt,
  };
  await store.db.transaction().execute(async (db) => {
    const result = await db
      .insertInto('custom_capabilities')
      .values(row)
      .onConflict((conflict) => conflict.columns(['owner', 'id']).doNothing())
      .executeTakeFirst();
    if (result.numInsertedOrUpdatedRows === 0n) throw new AbpError('conflict', `the capability ${capability.id} exists already`);
    // Somebody's agent may have waited for it: what others need may be defined after them.
    await reviseAgents(db);
  });
  return capabilityOf(row);
}

export interface CustomCapabilityChange {
  readonly document: JsonObject;
  readonly updatedAt: number;
  /** Changes nothing unless nobody has changed it since then: the document is written as a whole. */
  readonly ifUpdatedAt: number;
}

/** The capability after the change; undefined when there is none, or somebody else has changed it. */
export async function updateCustomCapability(
  store: Store,
  name: CapabilityName,
  change: CustomCapabilityChange,
): Promise<CustomCapability | undefined> {
  return await store.db.transaction().execute(async (db) => {
    const row = await db
      .updateTable('custom_capabilities')
      // Two changes in one millisecond must not look alike.
      .set({ document: JSON.stringify(change.document), updated_at: Math.max(change.updatedAt, change.ifUpdatedAt + 1) })
      .where('owner', '=', ownerOf(name))
      .where('id', '=', storableText(name.id))
      .where('updated_at', '=', change.ifUpdatedAt)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return undefined;
    await reviseAgents(db);
    return capabilityOf(row);
  });
}

/** False when there is none. */
export async function deleteCustomCapability(store: Store, name: CapabilityName): Promise<boolean> {
  return await store.db.transaction().execute(async (db) => {
    const result = await db
      .deleteFrom('custom_capabilities')
      .where('owner', '=', ownerOf(name))
      .where('id', '=', storableText(name.id))
      .executeTakeFirst();
    if (result.numDeletedRows === 0n) return false;
    await reviseAgents(db);
    return true;
  });
}

/** Those of all owners under one id, oldest first. */
export async function customCapabilitiesOf(store: Store, id: string): Promise<readonly CustomCapability[]> {
  const rows = await store.db
    .selectFrom('custom_capabilities')
    .selectAll()
    .where('id', '=', storableText(id))
    .orderBy('created_at')
    .orderBy('owner')
    .execute();
  return rows.map(capabilityOf);
}

/** All of them, oldest first. */
export async function listCustomCapabilities(store: Store): Promise<readonly CustomCapability[]> {
  const rows = await store.db.selectFrom('custom_capabilities').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(capabilityOf);
}

/** Any agent may have the capability through another one that depends on it; a change is rare and agents are few. */
async function reviseAgents(db: Transaction<Tables>): Promise<void> {
  await db
    .updateTable('agents')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .execute();
}

function ownerOf({ keyId }: CapabilityName): string {
  return keyId ?? '';
}

function capabilityOf(row: Selectable<CustomCapabilitiesTable>): CustomCapability {
  return {
    id: row.id,
    keyId: row.key_id,
    document: storedObject('document of a capability', row.document),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
