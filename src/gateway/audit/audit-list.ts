import { parseJson } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { AuditEntry, AuditRecord } from '../../contract/receipts/audit.ts';
import { AUDIT } from '../../receipts/audit/audit-kind.ts';
import { decodeCursor, encodeCursor, type Page, pageSize } from '../../store/page.ts';
import { listChains } from '../../store/receipts/chain.ts';
import { entriesBefore } from '../../store/receipts/chain-lines.ts';
import type { Store } from '../../store/store.ts';

/** Which records are asked for; every given member must match. */
export interface AuditFilter {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Such as `key.create`, or `key.*`. */
  readonly action?: string | undefined;
  /** The id of a key, or the kind of who asked: token, local. */
  readonly by?: string | undefined;
  readonly target?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** A record with its place in a chain. */
export interface PlacedRecord extends AuditRecord {
  readonly node: string;
  readonly sequence: number;
}

const PAGE = 100;
/** A record may be sealed a while after it was made: when its process was killed, at the next start. */
const LATE_MS = 24 * 3_600_000;

/** Records of all nodes, newest first, out of the entries of their chains: what is told here is what is signed. */
export async function listAudit(store: Store, filter: AuditFilter): Promise<Page<PlacedRecord>> {
  const size = pageSize(filter.limit);
  const after = filter.cursor === undefined ? undefined : decodeCursor(filter.cursor);
  const chains = await listChains(store);
  const found = (await Promise.all(chains.map(({ number }) => matching(store, number, filter, { after, size })))).flat();
  const sorted = found.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at) || (a.id < b.id ? 1 : -1));
  const items = sorted.slice(0, size);
  const last = items.at(-1);
  if (sorted.length <= size || last === undefined) return { items };
  return { items, next_cursor: encodeCursor({ time: Date.parse(last.at), id: last.id }) };
}

interface Portion {
  readonly after: { readonly time: number; readonly id: string } | undefined;
  readonly size: number;
}

/** The newest records of a chain that match, one more than a page holds. */
async function matching(store: Store, chain: number, filter: AuditFilter, { after, size }: Portion): Promise<PlacedRecord[]> {
  const found: PlacedRecord[] = [];
  const oldest = filter.since === undefined ? Number.NEGATIVE_INFINITY : filter.since - LATE_MS;
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const lines = await entriesBefore(store, { chain, kind: AUDIT, before, most: PAGE });
    for (const { sequence, document } of lines) {
      const { records, node } = entryOf(document);
      const fitting = records.toReversed().filter((record) => isAfter(record, after) && matches(record, filter));
      found.push(...fitting.map((record) => ({ ...record, node, sequence })));
      before = sequence;
      if (found.length > size || records.every(({ at }) => Date.parse(at) < oldest)) return found;
    }
    if (lines.length < PAGE) return found;
  }
}

function entryOf(document: string): AuditEntry {
  const parsed = parseJson(document);
  if (!parsed.ok) throw new AbpError('internal', 'an entry of the audit log in the database is damaged: abp receipts verify --all');
  return parsed.value as unknown as AuditEntry; // written by `sealAudit` alone; verification tells when it was not
}

function isAfter({ at, id }: AuditRecord, after: Portion['after']): boolean {
  if (after === undefined) return true;
  const time = Date.parse(at);
  return time < after.time || (time === after.time && id < after.id);
}

function matches({ at, action, by, target }: AuditRecord, filter: AuditFilter): boolean {
  const time = Date.parse(at);
  if (filter.since !== undefined && time < filter.since) return false;
  if (filter.until !== undefined && time >= filter.until) return false;
  if (filter.target !== undefined && filter.target !== target) return false;
  if (filter.by !== undefined && filter.by !== by.id && filter.by !== by.kind) return false;
  if (filter.action === undefined || filter.action === action) return true;
  return filter.action.endsWith('.*') && action.startsWith(filter.action.slice(0, -1));
}
