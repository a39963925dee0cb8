import { hash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { FATES } from '../../contract/fate-codes.ts';
import { storableText } from '../text.ts';
import type { ReceiptKindsTable } from './mark-schema.ts';
import type { ReceiptFacets } from './receipt-columns.ts';

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

/** All marks of a receipt: made of its facets and of its document. */
export function marksOf(facets: ReceiptFacets, document: JsonObject): ReceiptMarks {
  const { kind, marks } = commonMarks(facets, document);
  const { nano_usd: nanoUsd } = part(document.cost);
  const own = ownMarks(typeof nanoUsd === 'number' ? nanoUsd : undefined, text(document.parent_run_id));
  return { kind, marks: [...marks, ...own] };
}

/** The marks that receipts which agree in all but their cost and their parent have in common. */
export function commonMarks(facets: ReceiptFacets, document: JsonObject): ReceiptMarks {
  const { fidelity } = document;
  const kind = kindOf(facets, document);
  const marks = new Set([kind.mark]);
  for (const tag of facets.tags) marks.add(tagMark(tag));
  for (const entry of Array.isArray(fidelity) ? fidelity : []) {
    const mark = fateMark(text(part(entry).fate));
    if (mark !== undefined) marks.add(mark);
  }
  return { kind, marks: [...marks] };
}

/** The other marks of a receipt: of its cost, if it has one, and of its parent, if that is not empty. */
export function ownMarks(nanoUsd: number | undefined, parent: string): number[] {
  const marks = nanoUsd === undefined ? [] : [costMark(nanoUsd)];
  if (parent !== '') marks.push(parentMark(parent));
  return marks;
}

function kindOf({ plane, engine, model: named, status, mode }: ReceiptFacets, document: JsonObject): ReceiptKindsTable {
  const { task, reason, backend, model, error } = document;
  const { code, message } = part(error);
  const { requested, upstream } = part(model);
  const id = text(part(backend).id);
  const words = [text(task), text(requested) || (named ?? ''), text(upstream), text(message)];
  // A call that a turn made was answered by an engine, which is nobody's agent.
  const agent = plane === 'gateway' || id.startsWith('engine:') ? '' : id.slice(id.indexOf(':') + 1);
  return newKind({
    ...{ plane, engine: engine ?? '', model: named ?? '', status, mode: mode ?? '', agent, reason: text(reason), error: text(code) },
    words: words.join('\n').toLowerCase(),
  });
}

function newKind(texts: Omit<ReceiptKindsTable, 'mark'>): ReceiptKindsTable {
  const stored = Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, storableText(value)])) as typeof texts; // the same members
  return { mark: digestMark(Object.values(stored).join('\u0001')), ...stored };
}
