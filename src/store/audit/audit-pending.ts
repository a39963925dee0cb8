import type { Transaction } from 'kysely';
import { AbpError } from '../../contract/errors.ts';
import type { Tables } from '../schema.ts';
import type { Store } from '../store.ts';
import { storableText } from '../text.ts';
import type { AuditPendingTable } from './audit-schema.ts';

export async function addPending(store: Store, row: AuditPendingTable): Promise<void> {
  await store.db
    .insertInto('audit_pending')
    .values({ ...row, record: storableText(row.record), target: row.target === null ? null : storableText(row.target) })
    .execute();
}

export async function endPending(store: Store, id: string, end: Pick<AuditPendingTable, 'outcome' | 'target' | 'error'>): Promise<void> {
  const target = end.target === null ? null : storableText(end.target);
  await store.db
    .updateTable('audit_pending')
    .set({ ...end, target })
    .where('id', '=', id)
    .execute();
}

/** Nobody will say how these ended: their process is gone. */
export async function endUnknown(store: Store, node: string, before: number): Promise<void> {
  await store.db
    .updateTable('audit_pending')
    .set({ outcome: 'unknown' })
    .where('node', '=', node)
    .where('outcome', 'is', null)
    .where('at', '<', before)
    .execute();
}

export async function hasPending(store: Store): Promise<boolean> {
  return (await store.db.selectFrom('audit_pending').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** The oldest records that can be sealed here: those of this node that have ended, and those of nodes that left theirs behind. */
export async function sealable(store: Store, node: string, leftBefore: number, most: number): Promise<readonly AuditPendingTable[]> {
  return await store.db
    .selectFrom('audit_pending')
    .selectAll()
    .where((eb) => eb.or([eb.and([eb('node', '=', node), eb('outcome', 'is not', null)]), eb('at', '<', leftBefore)]))
    .orderBy('at')
    .orderBy('id')
    .limit(most)
    .execute();
}

/** They are in the chain now. Another node may have been faster with what a lost one left: then nothing is written. */
export async function removePending(db: Transaction<Tables>, ids: readonly string[]): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('audit_pending').where('id', 'in', ids).executeTakeFirst();
  if (numDeletedRows !== BigInt(ids.length)) throw new AbpError('conflict', 'another node has sealed these records of the audit log');
}
