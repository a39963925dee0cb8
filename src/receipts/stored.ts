import { parseJson } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import type { Receipt } from '../contract/receipt.ts';
import type { RunId } from '../contract/run-id.ts';
import type { NewReceipt, StoredReceipt } from '../store/receipt-columns.ts';
import { closedReceipt, type Origin, runningReceipt, upstreamModel } from './build.ts';
import { type CloseTexts, jsonText, type OpenTexts } from './fact-line.ts';

/** Revisions of a run: it began, it ended. */
const BEGUN = 1;
const ENDED = 2;

/** The row of a run that has begun. */
export function runningRow(open: OpenTexts, origin: Origin): NewReceipt {
  const { document } = runningReceipt(open, origin);
  return {
    ...columnsOf(open, open.upstreamModel),
    revision: BEGUN,
    status: 'running',
    completedAt: null,
    receiptSha256: null,
    document,
  };
}

/** The row of a run that has ended. */
export function closedRow(open: OpenTexts, close: CloseTexts, origin: Origin): NewReceipt {
  const { document, sha256 } = closedReceipt(open, close, origin);
  return {
    ...columnsOf(open, upstreamModel(open, close)),
    revision: ENDED,
    status: stringOf(close.status) ?? '',
    completedAt: Number(close.at),
    receiptSha256: sha256,
    document,
  };
}

function columnsOf(open: OpenTexts, upstream: string) {
  return {
    runId: open.run as RunId, // written by the journal from a RunId
    plane: stringOf(open.plane) ?? '',
    dialect: stringOf(open.dialect),
    engine: stringOf(open.engine),
    model: stringOf(upstream) ?? stringOf(open.requestedModel),
    mode: stringOf(open.mode),
    keyId: stringOf(open.keyId),
    startedAt: Number(open.at),
    tags: open.tags === '[]' ? [] : tagsOf(open.tags),
  };
}

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

/** How a run began, from its row: for a run whose beginning an earlier process drained. */
export function openingOf(row: StoredReceipt): { open: OpenTexts; origin: Origin } {
  const receipt = row.document as unknown as Receipt; // rows are written by this module alone
  const { model, request, upstream_request: upstreamRequest } = receipt;
  const open: OpenTexts = {
    kind: 'open',
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
