import { parseJson } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import type { Receipt } from '../contract/receipt.ts';
import type { RunId } from '../contract/run-id.ts';
import type { NewReceipt, StoredReceipt } from '../store/receipt-columns.ts';
import { type Built, closedReceipt, NOT_ENDED, type Origin, runningReceipt, upstreamModel } from './build.ts';
import { type CloseTexts, jsonText, type OpenTexts } from './fact-line.ts';

/** Revisions of a run: it began, it ended. */
const BEGUN = 1;
const ENDED = 2;

/** The row of a run that has begun. */
export function runningRow(open: OpenTexts, origin: Origin): NewReceipt {
  return rowOf(open, NOT_ENDED, runningReceipt(open, origin));
}

/** The row of a run that has ended. */
export function closedRow(open: OpenTexts, close: CloseTexts, origin: Origin): NewReceipt {
  return rowOf(open, close, closedReceipt(open, close, origin));
}

function rowOf(open: OpenTexts, close: CloseTexts, built: Built): NewReceipt {
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
    document: built.document,
  };
}

const NO_TAGS: readonly string[] = [];

/** The string in a JSON text; most hold it as it is. */
function stringOf(text: string): string | null {
  if (text === 'null') return null;
  return text.includes('\\') ? String(parsed(text)) : text.slice(1, -1);
}

function tagsOf(text: string): string[] {
  const tags = parsed(text);
  return Array.isArray(tags) ? tags.map(String) : [];
}

function parsed(text: string): unknown {
  const result = parseJson(text);
  if (!result.ok) throw new AbpError('internal', `a fact holds a damaged value: ${result.message}`);
  return result.value;
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
  };
  return { open, origin: { node: receipt.node, version: receipt.version } };
}
