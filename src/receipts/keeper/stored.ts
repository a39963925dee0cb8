import type { Json } from '../../base/json.ts';
import type { Leaf } from '../../contract/receipts/field.ts';
import { type RunId, writtenRunId } from '../../contract/run-id.ts';
import { facetsReader, type NewReceipt, type StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { factLine, parseOpening } from '../journal/fact-line.ts';
import { FACT_ROWS, noneOf } from '../journal/fact-rows.ts';
import type { OpenFact } from '../journal/facts.ts';
import { type CloseTexts, NOT_ENDED, type OpenTexts, PLACES } from '../journal/texts.ts';
import { parsedText } from '../seal/canonical-text.ts';
import { valueAt } from '../seal/content-hash.ts';
import { type Built, closedReceipt, type Ended, runningReceipt } from './build.ts';
import type { Origin } from './document.ts';

/** Revisions of a run: it began, it ended. */
const BEGUN = 1;
const ENDED = 2;

/** The row of a run that has begun. */
export function runningRow(open: OpenTexts, origin: Origin): NewReceipt {
  return rowOf(open, NOT_ENDED, runningReceipt(open, origin), null);
}

/** The row of a run that has ended, sealed in the chain of this number. */
export function closedRow(ended: Ended, chain: number): NewReceipt {
  return rowOf(ended.open, ended.close, closedReceipt(ended), chain);
}

function rowOf(open: OpenTexts, close: CloseTexts, built: Built, chain: number | null): NewReceipt {
  const row = facetsOf({ open, close, built });
  row.runId = writtenRunId(open.get('run'));
  row.revision = close === NOT_ENDED ? BEGUN : ENDED;
  row.chain = chain;
  row.sequence = built.sequence;
  row.document = built.document;
  return row;
}

/** The members of a row that are no facets. */
interface BesideFacets {
  runId: RunId;
  revision: number;
  chain: number | null;
  sequence: number | null;
  document: Buffer;
}

const UNFILLED: BesideFacets = { runId: writtenRunId(''), revision: BEGUN, chain: null, sequence: null, document: Buffer.alloc(0) };

interface RowTexts {
  readonly open: OpenTexts;
  readonly close: CloseTexts;
  readonly built: Built;
}

const facetsOf = facetsReader((leaf): ((from: RowTexts) => Json) => {
  if (leaf.from === 'hash') return ({ built }) => built.sha256;
  if (leaf.from === 'began') return ({ open }) => Number(open.get('at'));
  if (leaf.from === 'ended') return ({ close }) => (close === NOT_ENDED ? null : Number(close.get('at')));
  const text = textReader(leaf);
  return (texts) => parsedText(text(texts));
}, UNFILLED);

/** Makes a reader for the text of a field; where both facts have one, the later counts. */
function textReader(leaf: Leaf): (texts: Pick<RowTexts, 'open' | 'close'>) => string {
  const [opening, closing] = [PLACES.open.get(leaf.fact ?? ''), PLACES.close.get(leaf.fact ?? '')];
  if (closing === undefined) return ({ open }) => open.values[opening ?? -1] ?? 'null';
  if (opening === undefined) return ({ close }) => close.values[closing] ?? 'null';
  const none = noneOf(leaf);
  return ({ open, close }) => (close.values[closing] === none ? open.values[opening] : close.values[closing]) ?? 'null';
}

/** How a run began, and where. */
export interface Opening {
  readonly open: OpenTexts;
  readonly origin: Origin;
}

/** How a run began, from its row: for a run whose beginning is in no journal that is read again. */
export function openFactOf({ runId, startedAt, document }: StoredReceipt): OpenFact {
  // A row of a version that did not know of a field has nothing in its place.
  const said = FACT_ROWS.open.map((row) => [row.fact, valueAt(document, row.path) ?? parsedText(noneOf(row))]);
  // Rows are written by this module alone, from a fact with these members.
  return { fact: 'open', run: runId, at: startedAt, ...Object.fromEntries(said) } as unknown as OpenFact;
}

/** The same as the keeper reads it, and where it was. */
export function openingOf(row: StoredReceipt): Opening {
  const { node, version } = row.document;
  return { open: parseOpening(factLine(openFactOf(row)), 'row'), origin: { node: String(node), version: String(version) } };
}
