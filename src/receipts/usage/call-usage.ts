import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { FATES } from '../../contract/fate-codes.ts';
import type { Fate } from '../../contract/negotiation.ts';
import { parseRunId } from '../../contract/run-id.ts';
import { type ReceiptFacets, runKey } from '../../store/receipts/receipt-columns.ts';
import type { Store } from '../../store/store.ts';
import { tagsColumn } from '../../store/tags.ts';
import { indexedText } from '../../store/text.ts';
import type { Rollup } from '../../store/usage/rollups.ts';
import { hasReached } from './unsent.ts';

/** Calls that agree in these are added up in one sum. */
export type CallFacets = Pick<Rollup, 'engine' | 'model' | 'key_id' | 'agent' | 'status' | 'mode' | 'error' | 'fates' | 'tags'>;

/** The amounts that a call adds to its sum. */
export type CallFigures = Pick<
  Rollup,
  'unpriced' | 'cost_nano_usd' | 'tokens_in' | 'tokens_out' | 'cache_read' | 'thinking' | 'reached'
> & {
  readonly startedAt: number;
  readonly firstByteMs: number | null;
  readonly totalMs: number | null;
};

/** One call as usage counts it. */
export type CallUsage = CallFacets & CallFigures;

/** A receipt as far as usage is told by it. */
type Counted = ReceiptFacets & { readonly document: JsonObject };

/** On whose behalf the calls of a run were made. */
export interface Behalf {
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
  const behalves = await behalvesOf(
    store,
    calls.map(({ document }) => text(document.parent_run_id)),
  );
  return calls.map((receipt) => {
    const { attempts, cost, timing, usage, parent_run_id: parent } = receipt.document;
    const told = { nanoUsd: isJsonObject(cost) ? number(cost.nano_usd) : undefined, usage };
    const { first_byte_ms: firstByteMs, last_byte_ms: lastByteMs } = part(timing);
    const facets = callFacets(receipt, receipt.document);
    const reached = hasReached(facets.error, attempts);
    const figures = callFigures(receipt, { ...told, firstByteMs, lastByteMs, reached });
    return { ...onBehalf(facets, behalves.get(text(parent))), ...figures };
  });
}

export function callFacets(receipt: ReceiptFacets, { model, error, fidelity }: JsonObject): CallFacets {
  return {
    engine: receipt.engine ?? '',
    // As in its column, whether the receipt comes from there or is about to be written.
    model: indexedText(text(part(model).upstream) || (receipt.model ?? text(part(model).requested))),
    key_id: receipt.keyId ?? '',
    agent: '',
    status: receipt.status,
    mode: receipt.mode ?? '',
    error: text(part(error).code),
    fates: fateBits(fidelity),
    tags: tagsColumn([...new Set(receipt.tags)].sort()),
  };
}

/** The calls of a run carry a key that lives as long as the run; they count for the key that asked for the run. */
export function onBehalf(facets: CallFacets, behalf: Behalf | undefined): CallFacets {
  return behalf === undefined ? facets : { ...facets, key_id: behalf.keyId ?? '', agent: behalf.agent };
}

/** A receipt tells its figures by these. */
interface Told {
  /** Undefined where the call has no price. */
  readonly nanoUsd: number | undefined;
  readonly usage: Json | undefined;
  readonly firstByteMs?: Json | undefined;
  readonly lastByteMs?: Json | undefined;
  readonly reached: boolean;
}

export function callFigures(
  { startedAt, completedAt }: Pick<ReceiptFacets, 'startedAt' | 'completedAt'>,
  { nanoUsd, usage, firstByteMs, lastByteMs, reached }: Told,
): CallFigures {
  const told = isJsonObject(usage) ? usage : undefined;
  return {
    startedAt,
    unpriced: nanoUsd === undefined && told !== undefined ? 1 : 0,
    cost_nano_usd: nanoUsd ?? 0,
    tokens_in: number(told?.input_tokens),
    tokens_out: number(told?.output_tokens),
    cache_read: number(told?.cache_read_tokens),
    thinking: number(told?.thinking_tokens),
    reached: reached ? 1 : 0,
    firstByteMs: typeof firstByteMs === 'number' ? firstByteMs : null,
    totalMs: typeof lastByteMs === 'number' ? lastByteMs : completedAt === null ? null : completedAt - startedAt,
  };
}

/** A bit per fate that a line of the record has. */
export function fateBits(fidelity: Json | undefined): number {
  let bits = 0;
  for (const entry of Array.isArray(fidelity) ? fidelity : []) {
    const at = FATES.indexOf(part(entry).fate as Fate);
    if (at >= 0) bits |= 1 << at;
  }
  return bits;
}

/** On whose behalf the calls of these runs were made, by the run; those that no coding agent runs have nobody. */
export async function behalvesOf(store: Store, runs: readonly string[]): Promise<ReadonlyMap<string, Behalf>> {
  const parents = new Map<string, string>();
  for (const one of new Set(runs)) {
    const run = parseRunId(one);
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
