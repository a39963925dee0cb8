import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { FATES } from '../../contract/fate-codes.ts';
import type { Fate } from '../../contract/negotiation.ts';
import { parseRunId } from '../../contract/run-id.ts';
import { type ReceiptFacets, runKey } from '../../store/receipts/receipt-columns.ts';
import type { Store } from '../../store/store.ts';
import { tagsColumn } from '../../store/tags.ts';
import { indexedText } from '../../store/text.ts';
import type { Rollup } from '../../store/usage/rollups.ts';

/** One call as usage counts it. */
export type CallUsage = Pick<Rollup, 'engine' | 'model' | 'key_id' | 'agent' | 'status' | 'mode' | 'error' | 'fates' | 'tags'> &
  Pick<Rollup, 'unpriced' | 'cost_nano_usd' | 'tokens_in' | 'tokens_out' | 'cache_read' | 'thinking'> & {
    readonly startedAt: number;
    readonly firstByteMs: number | null;
    readonly totalMs: number | null;
  };

/** A receipt as far as usage is told by it: its facets, and of its document at least the members below. */
export type Counted = ReceiptFacets & { readonly document: JsonObject };
export const COUNTED_MEMBERS = ['model', 'timing', 'cost', 'error', 'usage', 'fidelity', 'parent_run_id'] as const;

/** On whose behalf the calls of a run were made. */
interface Behalf {
  readonly agent: string;
  readonly keyId: string | null;
}

const part = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
const number = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Calls of engines that have ended. Runs and turns are made of calls, and are left out so that nothing counts twice. */
export function isCall({ plane, mode, completedAt }: ReceiptFacets): boolean {
  return completedAt !== null && (plane === 'gateway' || (plane === 'agent' && mode !== null));
}

/** The calls among receipts. */
export async function callsIn(store: Store, receipts: readonly Counted[]): Promise<CallUsage[]> {
  const calls = receipts.filter(isCall);
  const behalves = await behalvesOf(store, calls);
  return calls.map((receipt) => callUsage(receipt, receipt.document, behalves.get(text(receipt.document.parent_run_id))));
}

export function callUsage(receipt: ReceiptFacets, document: JsonObject, behalf?: Behalf): CallUsage {
  const { startedAt, completedAt } = receipt;
  const { model, timing, cost, error, usage } = document;
  const told = isJsonObject(usage) ? usage : undefined;
  const priced = isJsonObject(cost);
  const { first_byte_ms: firstByte, last_byte_ms: lastByte } = part(timing);
  return {
    startedAt,
    engine: receipt.engine ?? '',
    // As in its column, whether the receipt comes from there or is about to be written.
    model: indexedText(text(part(model).upstream) || (receipt.model ?? text(part(model).requested))),
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
async function behalvesOf(store: Store, calls: readonly Counted[]): Promise<ReadonlyMap<string, Behalf>> {
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
