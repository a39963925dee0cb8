import { sha256 } from '../../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { FATES } from '../../contract/fate-codes.ts';
import type { Fate } from '../../contract/negotiation.ts';
import { parseRunId } from '../../contract/run-id.ts';
import { runKey, type StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import type { Store } from '../../store/store.ts';
import { tagsColumn } from '../../store/tags.ts';
import { DAY_MS, HOUR_MS, type Rollup } from '../../store/usage/rollups.ts';
import { Durations } from './durations.ts';

/** One call as usage counts it. */
export type CallUsage = Pick<Rollup, 'engine' | 'model' | 'key_id' | 'agent' | 'status' | 'mode' | 'error' | 'fates' | 'tags'> &
  Pick<Rollup, 'unpriced' | 'cost_nano_usd' | 'tokens_in' | 'tokens_out' | 'cache_read' | 'thinking'> & {
    readonly startedAt: number;
    readonly firstByteMs: number | null;
    readonly totalMs: number | null;
  };

/** On whose behalf the calls of a run were made. */
interface Behalf {
  readonly agent: string;
  readonly keyId: string | null;
}

const part = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
const number = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Calls of engines that have ended. Runs and turns are made of calls, and are left out so that nothing counts twice. */
function isCall({ plane, mode, completedAt }: StoredReceipt): boolean {
  return completedAt !== null && (plane === 'gateway' || (plane === 'agent' && mode !== null));
}

/** The calls among receipts. */
export async function callsIn(store: Store, receipts: readonly StoredReceipt[]): Promise<CallUsage[]> {
  const calls = receipts.filter(isCall);
  const behalves = await behalvesOf(store, calls);
  return calls.map((receipt) => callUsage(receipt, behalves.get(text(receipt.document.parent_run_id))));
}

function callUsage(receipt: StoredReceipt, behalf: Behalf | undefined): CallUsage {
  const { document, startedAt, completedAt } = receipt;
  const { model, timing, cost, error, usage } = document;
  const told = isJsonObject(usage) ? usage : undefined;
  const priced = isJsonObject(cost);
  const { first_byte_ms: firstByte, last_byte_ms: lastByte } = part(timing);
  return {
    startedAt,
    engine: receipt.engine ?? '',
    model: text(part(model).upstream) || (receipt.model ?? text(part(model).requested)),
    // The calls of a run carry a key that lives as long as the run; they count for the key that asked for the run.
    key_id: (behalf === undefined ? receipt.keyId : behalf.keyId) ?? '',
    agent: behalf?.agent ?? '',
    status: receipt.status,
    mode: receipt.mode ?? '',
    error: text(part(error).code),
    fates: fateBits(document.fidelity),
    tags: tagsColumn([...new Set(receipt.tags)].sort()),
    unpriced: !priced && told !== undefined ? 1 : 0,
    cost_nano_usd: number(part(cost).nano_usd),
    tokens_in: number(told?.input_tokens),
    tokens_out: number(told?.output_tokens),
    cache_read: number(told?.cache_read_tokens),
    thinking: number(told?.thinking_tokens),
    firstByteMs: typeof firstByte === 'number' ? firstByte : null,
    totalMs: typeof lastByte === 'number' ? lastByte : completedAt === null ? null : completedAt - startedAt,
  };
}

/** A bit per fate that a line of the record has. */
function fateBits(fidelity: Json | undefined): number {
  let bits = 0;
  for (const entry of Array.isArray(fidelity) ? fidelity : []) {
    const at = FATES.indexOf(part(entry).fate as Fate);
    if (at >= 0) bits |= 1 << at;
  }
  return bits;
}

/** Runs of coding agents by the id that their calls name as parent. */
async function behalvesOf(store: Store, calls: readonly StoredReceipt[]): Promise<ReadonlyMap<string, Behalf>> {
  const parents = new Map<string, string>();
  for (const { document } of calls) {
    const run = parseRunId(text(document.parent_run_id));
    if (run !== undefined) parents.set(runKey(run), run);
  }
  if (parents.size === 0) return new Map();
  const found = await store.db
    .selectFrom('runs')
    .select(['run_id', 'agent', 'key_id'])
    .where('run_id', 'in', [...parents.keys()])
    .execute();
  return new Map(found.map(({ run_id, agent, key_id }) => [parents.get(run_id) ?? run_id, { agent, keyId: key_id }]));
}

const SPANS = [
  { span: 'h', ms: HOUR_MS },
  { span: 'd', ms: DAY_MS },
] as const;

/** Calls added up by hour and by day, in the order of their keys: two nodes that write the same rows then do not wait for each other. */
export function rollupsOf(calls: readonly CallUsage[]): Rollup[] {
  const sums = new Map<string, Rollup>();
  for (const call of calls) {
    const { startedAt, firstByteMs, totalMs, ...counted } = call;
    const { engine, model, key_id, agent, status, mode, error, fates, tags } = counted;
    const facets = sha256(JSON.stringify([engine, model, key_id, agent, status, mode, error, fates, tags])).slice(0, 32);
    for (const { span, ms } of SPANS) {
      const one: Rollup = {
        ...counted,
        span,
        start: Math.floor(startedAt / ms) * ms,
        facets,
        calls: 1,
        first_byte: durationText(firstByteMs),
        total: durationText(totalMs),
      };
      const key = `${span} ${one.start} ${facets}`;
      const known = sums.get(key);
      sums.set(key, known === undefined ? one : mergeRollups(known, one));
    }
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

function durationText(ms: number | null): string {
  if (ms === null) return '';
  const one = new Durations();
  one.add(ms);
  return one.text();
}

/** Two sums of the same facets as one. */
export function mergeRollups(one: Rollup, other: Rollup): Rollup {
  return {
    ...one,
    calls: one.calls + other.calls,
    unpriced: one.unpriced + other.unpriced,
    cost_nano_usd: one.cost_nano_usd + other.cost_nano_usd,
    tokens_in: one.tokens_in + other.tokens_in,
    tokens_out: one.tokens_out + other.tokens_out,
    cache_read: one.cache_read + other.cache_read,
    thinking: one.thinking + other.thinking,
    first_byte: mergedDurations(one.first_byte, other.first_byte),
    total: mergedDurations(one.total, other.total),
  };
}

function mergedDurations(one: string, other: string): string {
  if (one === '' || other === '') return one || other;
  const both = Durations.of(one);
  both.read(other);
  return both.text();
}
