import type { Receipt } from '../contract/receipt.ts';
import type { RunId } from '../contract/run-id.ts';
import type { NewReceipt, StoredReceipt } from '../store/receipt-columns.ts';
import { type Built, closedReceipt, type Ended, NOT_ENDED, type Origin, runningReceipt, upstreamModel } from './build.ts';
import { parsedText } from './canonical-text.ts';
import type { CloseTexts, OpenTexts } from './fact-line.ts';
import { jsonText } from './fact-texts.ts';

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

/** How a run began, from its row: for a run whose beginning an earlier process drained. */
export function openingOf(row: StoredReceipt): Opening {
  const receipt = row.document as unknown as Receipt; // rows are written by this module alone
  const { model, request, upstream_request: upstreamRequest } = receipt;
  const open: OpenTexts = {
    run: receipt.run_id,
    at: String(receipt.timing.received_at_ms),
    plane: jsonText(receipt.plane),
    task: jsonText(receipt.task),
    dialect: jsonText(receipt.dialect),
    engine: jsonText(receipt.engine),
    backend: jsonText(receipt.backend.id),
    requestedModel: jsonText(model.requested),
    upstreamModel: jsonText(model.upstream),
    mode: jsonText(receipt.mode),
    compatibility: jsonText(receipt.compatibility),
    negotiation: jsonText(receipt.negotiation),
    emulations: jsonText(receipt.emulations),
    fidelity: jsonText(receipt.fidelity),
    request: jsonText(request),
    upstreamRequest: jsonText(upstreamRequest),
    recording: jsonText(receipt.recording),
    enforcement: jsonText(receipt.enforcement),
    tags: jsonText(receipt.tags),
    keyId: jsonText(receipt.key_id),
    // A row of a version that did not know of parents has none.
    parent: jsonText(receipt.parent_run_id ?? null),
  };
  return { open, origin: { node: receipt.node, version: receipt.version } };
}
