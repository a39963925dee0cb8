import { hash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { FATES } from '../../contract/fate-codes.ts';
import { storableText } from '../text.ts';
import type { ReceiptKindsTable } from './mark-schema.ts';
import type { ReceiptFacets } from './receipt-columns.ts';

/** The members of a document that marks are made of. */
export const MARKED_MEMBERS = ['task', 'reason', 'backend', 'model', 'cost', 'error', 'fidelity', 'parent_run_id'] as const;

/** The marks of one receipt, and the kind that the first of them stands for. */
export interface ReceiptMarks {
  readonly kind: ReceiptKindsTable;
  readonly marks: readonly number[];
}

// Numbers below this stand for what has few values; all others are digests. Two names of one number do no harm: who finds a receipt by a
// mark looks whether it fits.
const DIGESTS_FROM = 1000;
const COSTS_FROM = 0;
const FATES_FROM = 100;
/** More than two to the power of this many billionths of a dollar has no call cost. */
const HIGHEST_COST = 62;

function digestMark(name: string): number {
  return DIGESTS_FROM + Number.parseInt(hash('sha1', name, 'hex').slice(0, 12), 16);
}

/** The mark of calls of a run. */
export function parentMark(run: string): number {
  return digestMark(`parent ${run}`);
}

export function tagMark(tag: string): number {
  return digestMark(`tag ${storableText(tag)}`);
}

/** Undefined for fields that are exact: nearly every receipt has some. */
export function fateMark(fate: string): number | undefined {
  const at = FATES.findIndex((one) => one === fate);
  return at < 1 ? undefined : FATES_FROM + at;
}

/** Costs between two powers of two have one mark. */
function costMark(nanoUsd: number): number {
  return COSTS_FROM + Math.min(HIGHEST_COST, Math.floor(Math.log2(Math.max(1, nanoUsd))));
}

/** The marks of all costs that are as high, and of some that are a little lower. */
export function costMarks(atLeast: number): number[] {
  const first = costMark(atLeast);
  return Array.from({ length: COSTS_FROM + HIGHEST_COST - first + 1 }, (_, at) => first + at);
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const part = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** All marks of a receipt: made of its facets, and of the members of its document that are named above. */
export function marksOf(facets: ReceiptFacets, document: JsonObject): ReceiptMarks {
  const { cost, fidelity, parent_run_id: parent } = document;
  const kind = kindOf(facets, document);
  const marks = new Set([kind.mark]);
  const { nano_usd: nanoUsd } = part(cost);
  if (typeof nanoUsd === 'number') marks.add(costMark(nanoUsd));
  if (typeof parent === 'string') marks.add(parentMark(parent));
  for (const tag of facets.tags) marks.add(tagMark(tag));
  for (const entry of Array.isArray(fidelity) ? fidelity : []) {
    const mark = fateMark(text(part(entry).fate));
    if (mark !== undefined) marks.add(mark);
  }
  return { kind, marks: [...marks] };
}

/** Most receipts are of few kinds; making one takes longer than all the rest. */
const known = new Map<string, ReceiptKindsTable>();
const MOST_KNOWN = 5000;

function kindOf({ plane, engine, model: named, status, mode }: ReceiptFacets, document: JsonObject): ReceiptKindsTable {
  const { task, reason, backend, model, error } = document;
  const { code, message } = part(error);
  const { requested, upstream } = part(model);
  const id = text(part(backend).id);
  const parts = [plane, engine ?? '', named ?? '', status, mode ?? '', id, text(reason), text(code)];
  const words = [text(task), text(requested) || (named ?? ''), text(upstream), text(message)];
  const key = `${parts.join('\u0001')}\u0002${words.join('\u0001')}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const agent = plane === 'gateway' ? '' : id.slice(id.indexOf(':') + 1);
  const kind = newKind({
    ...{ plane, engine: engine ?? '', model: named ?? '', status, mode: mode ?? '', agent, reason: text(reason), error: text(code) },
    words: words.join('\n').toLowerCase(),
  });
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, kind);
  return kind;
}

function newKind(texts: Omit<ReceiptKindsTable, 'mark'>): ReceiptKindsTable {
  const stored = Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, storableText(value)])) as typeof texts; // the same members
  return { mark: digestMark(Object.values(stored).join('\u0001')), ...stored };
}
