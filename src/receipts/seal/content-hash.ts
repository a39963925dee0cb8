import { canonicalJson, sha256 } from '../../base/canonical-json.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Receipt } from '../../contract/receipts/receipt.ts';
import { CONTRACT_VERSION } from '../../contract/version.ts';
import type { CloseTexts, OpenTexts } from '../journal/fact-line.ts';

/**
 * `receipt_sha256` under the profile `abp-content/1`: a hash over what the run did, as an allowlist. Ids, times, durations, attempts,
 * headers, cost, tags, keys, nodes and our version stay out, so that two runs that did the same thing have the same hash.
 */
export function contentHash(receipt: Omit<Receipt, 'receipt_sha256' | 'seal'>): string {
  const content = {
    contract_version: receipt.contract_version,
    plane: receipt.plane,
    status: receipt.status,
    reason: receipt.reason,
    dialect: receipt.dialect,
    engine: receipt.engine,
    // RFC 8785 has no form for half a surrogate pair, and names come from callers and engines as they like.
    upstream_model: receipt.model.upstream?.toWellFormed() ?? null,
    mode: receipt.mode,
    compatibility: receipt.compatibility,
    negotiation: receipt.negotiation,
    emulations: receipt.emulations,
    fidelity: receipt.fidelity,
    request: receipt.request,
    upstream_request: receipt.upstream_request,
    response: receipt.response,
    event_count: receipt.event_count,
    usage: receipt.usage,
    tool_calls: receipt.tool_calls.map(contentOfCall),
    artifacts: receipt.artifacts,
    workspace_delta: receipt.workspace_delta,
  };
  return sha256(canonicalJson(content as unknown as JsonObject)); // a receipt holds JSON values only
}

/** The same hash from the texts of a run, each as the bytes of its RFC 8785 form: nothing is parsed or sorted again. */
export function contentTextHash(open: OpenTexts, close: CloseTexts, upstreamModel: string): string {
  const content =
    `{"artifacts":${close.artifacts},"compatibility":${open.compatibility},"contract_version":"${CONTRACT_VERSION}","dialect":${open.dialect}` +
    `,"emulations":${open.emulations},"engine":${open.engine},"event_count":${close.eventCount},"fidelity":${open.fidelity},"mode":${open.mode}` +
    `,"negotiation":${open.negotiation},"plane":${open.plane},"reason":${close.reason},"request":${open.request},"response":${close.response}` +
    `,"status":${close.status},"tool_calls":${withoutIds(close.toolCalls)},"upstream_model":${upstreamModel}` +
    `,"upstream_request":${open.upstreamRequest},"usage":${close.usage},"workspace_delta":${close.workspaceDelta}}`;
  return sha256(Buffer.from(content, 'latin1'));
}

/** The id of a call with the comma behind it. Inside a string a quote is escaped, so the text stands nowhere else. */
const CALL_ID = /"id":(?:null|"(?:[^"\\]|\\.)*"),/g;

/** Calls are written by fact-line.ts with their members in order; without the ids they still are. */
function withoutIds(toolCalls: string): string {
  return toolCalls === '[]' ? toolCalls : toolCalls.replace(CALL_ID, '');
}

/** Ids of calls are the engine's choice and differ from run to run. */
function contentOfCall({ name, arguments_sha256, result_sha256 }: Receipt['tool_calls'][number]): JsonObject {
  return { name: name.toWellFormed(), arguments_sha256, result_sha256 };
}
