import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { commonMarks, type ReceiptMarks } from '../../store/receipts/marks.ts';
import type { ReceiptFacets } from '../../store/receipts/receipt-columns.ts';
import type { CloseName, OpenName } from '../journal/facts.ts';
import { type CloseTexts, type OpenTexts, PLACES } from '../journal/texts.ts';
import { upstreamModel } from '../keeper/build.ts';
import { parsedText } from '../seal/canonical-text.ts';
import { callFacets, fateBits, isCall } from './call-usage.ts';
import { type KnownFacets, knownFacets } from './usage-sums.ts';

/** Receipts of ended runs that differ in their times, their figures and their parent alone share all of this. */
export interface Alike extends ReceiptMarks {
  /** The sums that their calls belong to; undefined where they are no calls. */
  readonly call: KnownFacets | undefined;
  readonly engine: string;
  /** The model that served them. */
  readonly served: string;
}

/** The texts that decide it, beside the fates of their fields. */
const OPENING: readonly OpenName[] = ['plane', 'task', 'engine', 'backend', 'requestedModel', 'upstreamModel', 'mode', 'tags', 'keyId'];
const CLOSING: readonly CloseName[] = ['status', 'reason', 'error', 'upstreamModel'];
const PLACES_OF = {
  open: OPENING.map((name) => PLACES.open.get(name) ?? -1),
  close: CLOSING.map((name) => PLACES.close.get(name) ?? -1),
} as const;

/** Most receipts are like a few others. */
const known = new Map<string, Alike>();
const MOST_KNOWN = 5000;

/** Finds what a receipt shares with others. It is made once for all of them, which takes longer than all the rest of counting a receipt. */
export function alikeOf(receipt: ReceiptFacets, open: OpenTexts, close: CloseTexts): Alike {
  const fidelity = parsedText(close.get('fidelity') === '[]' ? open.get('fidelity') : close.get('fidelity'));
  let key = String(fateBits(fidelity));
  for (const place of PLACES_OF.open) key += `\t${open.values[place]}`;
  for (const place of PLACES_OF.close) key += `\t${close.values[place]}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = newAlike(receipt, { ...membersOf(open, close), fidelity });
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, made);
  return made;
}

/** The members of the document that are looked at. */
function membersOf(open: OpenTexts, close: CloseTexts): JsonObject {
  return {
    task: parsedText(open.get('task')),
    reason: parsedText(close.get('reason')),
    backend: { id: parsedText(open.get('backend')) },
    model: { requested: parsedText(open.get('requestedModel')), upstream: parsedText(upstreamModel(open, close)) },
    error: parsedText(close.get('error')),
  };
}

function newAlike(receipt: ReceiptFacets, document: JsonObject): Alike {
  const upstream = isJsonObject(document.model) ? document.model.upstream : null;
  return {
    ...commonMarks(receipt, document),
    call: isCall(receipt) ? knownFacets(callFacets(receipt, document)) : undefined,
    engine: receipt.engine ?? '',
    served: typeof upstream === 'string' ? upstream : (receipt.model ?? ''),
  };
}
