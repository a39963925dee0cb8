import type { JsonObject } from '../../base/json.ts';
import type { RunId } from '../../contract/run-id.ts';
import { lateEndsOf, markCounted, receiptsWithLateEnd, uncountedLateEnds } from '../../store/receipts/late-ends.ts';
import { runKey, type StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { receiptsAt } from '../../store/receipts/receipts.ts';
import type { Store } from '../../store/store.ts';
import { addRollups, type Rollup } from '../../store/usage/rollups.ts';
import { type CallUsage, callsIn } from './call-usage.ts';
import type { Spent } from './sealed-usage.ts';
import { lateRollup, mergeRollups, UsageSums } from './usage-sums.ts';

const PAGE = 500;

/** A receipt that another node has sealed as interrupted, and how the run really ended. */
export interface LateEnded {
  readonly stored: StoredReceipt;
  readonly end: JsonObject;
}

/** The receipt as the run's own node would have sealed it. Only sums go by it: the sealed one stays what it is. */
function asItEnded({ stored, end }: LateEnded): StoredReceipt {
  const document = { ...stored.document, ...end };
  const completedAt = typeof end.completed_at === 'string' ? Date.parse(end.completed_at) : stored.completedAt;
  return { ...stored, status: String(end.status), completedAt, document };
}

/** Whether another node has closed the run in the absence of its own, as far as the receipt says. */
export function isInterrupted({ status, document }: StoredReceipt): boolean {
  return status === 'failed' && document.reason === 'interrupted';
}

function interruptedIn(receipts: readonly StoredReceipt[]): RunId[] {
  return receipts.filter(isInterrupted).map(({ runId }) => runId);
}

/** The receipts as their runs really ended. */
export async function asTheyEnded(store: Store, receipts: readonly StoredReceipt[]): Promise<readonly StoredReceipt[]> {
  const ends = await lateEndsOf(store, interruptedIn(receipts));
  if (ends.size === 0) return receipts;
  return receipts.map((stored) => {
    const end = ends.get(stored.runId);
    return end === undefined ? stored : asItEnded({ stored, end });
  });
}

/** Those of the receipts that have no late end. */
export async function withoutLateEnd(store: Store, receipts: readonly StoredReceipt[]): Promise<readonly StoredReceipt[]> {
  const ends = await lateEndsOf(store, interruptedIn(receipts));
  return ends.size === 0 ? receipts : receipts.filter(({ runId }) => !ends.has(runId));
}

/** Receipts with a late end of runs that began between two times, as they really ended, page by page. */
export async function* lateEndedBetween(store: Store, since: number, until: number): AsyncGenerator<readonly StoredReceipt[]> {
  for (let after: RunId | undefined; ; ) {
    const page = await receiptsWithLateEnd(store, { since, until, after, limit: PAGE });
    if (page.length > 0) yield await asTheyEnded(store, page);
    if (page.length < PAGE) return;
    after = page.at(-1)?.runId;
  }
}

/** What late ends change in usage: rows for the sums of the chain that they are written in, and what the calls have really cost. */
export interface LateUsage {
  readonly rollups: readonly Rollup[];
  readonly spent: readonly Spent[];
}

export async function lateUsageOf(store: Store, ended: readonly LateEnded[]): Promise<LateUsage> {
  const rollups: Rollup[] = [];
  const spent: Spent[] = [];
  for (const [chain, ones] of Map.groupBy(ended, ({ stored }) => stored.chain ?? 0)) {
    const sealed = await callsIn(
      store,
      ones.map(({ stored }) => stored),
    );
    const real = await callsIn(store, ones.map(asItEnded));
    rollups.push(...summed(sealed).map((sum) => lateRollup(sum, chain, -1)), ...summed(real).map((sum) => lateRollup(sum, chain, 1)));
    spent.push(...real.map(({ engine, model, cost_nano_usd: nanoUsd }) => ({ engine, model, nanoUsd })));
  }
  return { rollups: rollups.sort(byKey), spent };
}

function summed(calls: readonly CallUsage[]): Rollup[] {
  const sums = new UsageSums();
  for (const call of calls) sums.add(call);
  return sums.rollups();
}

const keyOf = ({ span, start, facets }: Rollup): string => `${span} ${start} ${facets}`;

function byKey(one: Rollup, other: Rollup): number {
  return keyOf(one) < keyOf(other) ? -1 : 1;
}

/** Counts late ends that an earlier version has written into this chain, which counted none. */
export async function countEarlierLateEnds(store: Store, chain: number): Promise<void> {
  for (let more = true; more; ) {
    const runs = await uncountedLateEnds(store, chain, PAGE);
    more = runs.length === PAGE;
    if (runs.length === 0) return;
    const ends = await lateEndsOf(store, runs);
    const receipts = await receiptsAt(store, runs.map(runKey), {});
    const ended = receipts.filter(isInterrupted).flatMap((stored) => {
      const end = ends.get(stored.runId);
      return end === undefined ? [] : [{ stored, end }];
    });
    const { rollups } = await lateUsageOf(store, ended);
    await store.db.transaction().execute(async (db) => {
      await addRollups(db, { chain, added: rollups, merge: mergeRollups });
      await markCounted(db, runs);
    });
  }
}
