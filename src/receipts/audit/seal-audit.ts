import { isoTime } from '../../base/clock.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { removePending, sealable } from '../../store/audit/audit-pending.ts';
import type { AuditPendingTable } from '../../store/audit/audit-schema.ts';
import type { Store } from '../../store/store.ts';
import { parsedText } from '../seal/canonical-text.ts';
import type { Chain } from '../seal/chain.ts';
import { append, entryTime } from '../seal/entry.ts';
import { AUDIT } from './audit-kind.ts';

/** One entry of the chain holds at most this many records. */
const MOST_PER_ENTRY = 64;
/** A node whose records wait this long is gone; another one seals them. */
const LEFT_MS = 3_600_000;

/** Moves records of the audit log into the chain; how many. */
export async function sealAudit(store: Store, chain: Chain): Promise<number> {
  let sealed = 0;
  for (;;) {
    const { node } = await chain.current(store);
    const rows = await sealable(store, node, Date.now() - LEFT_MS, MOST_PER_ENTRY);
    if (rows.length === 0) return sealed;
    await append(store, chain, {
      kind: AUDIT,
      members: { at: entryTime(), records: rows.map(recordOf) },
      signer: chain.signer,
      work: (db) =>
        removePending(
          db,
          rows.map(({ id }) => id),
        ),
    });
    sealed += rows.length;
  }
}

function recordOf({ id, at, record, outcome, target, error }: AuditPendingTable): JsonObject {
  const told = parsedText(record);
  const members = isJsonObject(told) ? told : {};
  return { id, at: isoTime(at), ...members, target, outcome: outcome ?? 'unknown', error };
}
