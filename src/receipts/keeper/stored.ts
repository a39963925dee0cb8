import type { Receipt } from '../../contract/receipts/receipt.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { NewReceipt, StoredReceipt } from '../../store/receipts/receipt-columns.ts';
import { type CloseTexts, factLine, type OpenTexts, parseOpening } from '../journal/fact-line.ts';
import type { OpenFact } from '../journal/facts.ts';
import { parsedText } from '../seal/canonical-text.ts';
import { type Built, closedReceipt, type Ended, NOT_ENDED, type Origin, runningReceipt, upstreamModel } from './build.ts';

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
  return {
    runId: open.run as RunId, // written by the journal from a RunId
    revision: close === NOT_ENDED ? BEGUN : ENDED,
    plane: stringOf(open.plane) ?? '',
    status: stringOf(close.status) ?? '',
    dialect: stringOf(open.dialect),
    engine: stringOf(open.engine),
    model: stringOf(upstreamModel(open, close)) ?? stringOf(open.requestedModel),
    mode: stringOf(open.mode),
    keyId: stringOf(open.keyId),
    startedAt: Number(open.at),
    completedAt: close === NOT_ENDED ? null : Number(close.at),
    tags: open.tags === '[]' ? NO_TAGS : tagsOf(open.tags),
    receiptSha256: built.sha256,
    chain,
    sequence: built.sequence,
    document: built.document,
  };
}

const NO_TAGS: readonly string[] = [];

/** The string in a JSON text; most hold it as it is. */
function stringOf(text: string): string | null {
  if (text === 'null') return null;
  return text.includes('\\') ? String(parsedText(text)) : text.slice(1, -1);
}

function tagsOf(text: string): string[] {
  const tags = parsedText(text);
  return Array.isArray(tags) ? tags.map(String) : [];
}

/** How a run began, and where. */
export interface Opening {
  readonly open: OpenTexts;
  readonly origin: Origin;
}

/** How a run began, from its row: for a run whose beginning is in no journal that is read again. */
export function openFactOf({ runId, document }: StoredReceipt): OpenFact {
  const receipt = document as unknown as Receipt; // rows are written by this module alone
  return {
    fact: 'open',
    run: runId,
    at: receipt.timing.received_at_ms,
    plane: receipt.plane,
    task: receipt.task,
    dialect: receipt.dialect,
    engine: receipt.engine,
    backend: receipt.backend.id,
    requestedModel: receipt.model.requested,
    upstreamModel: receipt.model.upstream,
    mode: receipt.mode,
    compatibility: receipt.compatibility,
    negotiation: receipt.negotiation,
    emulations: receipt.emulations,
    fidelity: receipt.fidelity,
    request: receipt.request,
    upstreamRequest: receipt.upstream_request,
    recording: receipt.recording,
    enforcement: receipt.enforcement,
    tags: receipt.tags,
    keyId: receipt.key_id,
    // A row of a version that did not know of parents has none; a row's parent was written from a RunId.
    parent: (receipt.parent_run_id ?? null) as RunId | null,
  };
}

/** The same as the keeper reads it, and where it was. */
export function openingOf(row: StoredReceipt): Opening {
  const { node, version } = row.document as unknown as Receipt; // rows are written by this module alone
  return { open: parseOpening(factLine(openFactOf(row)), 'row'), origin: { node, version } };
}
