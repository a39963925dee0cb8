import { isoTime } from '../../base/clock.ts';
import { hyphenate } from '../../base/ids.ts';
import { CONTRACT_VERSION, HASH_PROFILE } from '../../contract/version.ts';
import type { CloseTexts, OpenTexts } from '../journal/fact-line.ts';
import { jsonText } from '../journal/fact-texts.ts';
import { canonicalText, plainText } from '../seal/canonical-text.ts';
import { contentTextHash } from '../seal/content-hash.ts';

/** Where the receipt is built. */
export interface Origin {
  readonly node: string;
  readonly version: string;
}

/** A receipt as it is stored: its RFC 8785 text in UTF-8, the hash of what the run did, and its place in the chain. */
export interface Built {
  readonly document: Buffer;
  readonly sha256: string | null;
  readonly sequence: number | null;
}

/** Gives receipts their places in a chain, one after the other. */
export interface Sealer {
  /** Seals a document given as the texts before and after the members of its seal, a byte per character. */
  seal(before: string, after: string): { readonly document: Buffer; readonly sequence: number };
}

/** What is known of the end of a run that goes on. */
export const NOT_ENDED: CloseTexts = {
  run: '',
  at: '',
  status: '"running"',
  reason: 'null',
  error: 'null',
  response: 'null',
  upstreamModel: 'null',
  eventCount: '0',
  usage: 'null',
  toolCalls: '[]',
  attempts: '[]',
  dispatchedMs: 'null',
  firstByteMs: 'null',
  lastByteMs: 'null',
  cost: 'null',
  replayable: 'false',
  artifacts: '[]',
  workspaceDelta: 'null',
  backendVersion: 'null',
  prices: 'null',
};

/** The receipt of a run that has begun: no end, no hash, no seal. */
export function runningReceipt(begun: OpenTexts, origin: Origin): Built {
  const [open, close] = [canonicalOpening(begun), NOT_ENDED];
  const document = `${beforeSeal(open, close, origin, 'null')},"seal":null${afterSeal(open, close, origin)}`;
  return { document: Buffer.from(document, 'latin1'), sha256: null, sequence: null };
}

/** The receipt of a run that has ended, sealed. */
export function closedReceipt({ open: begun, close: ended, origin, sealer }: Ended): Built {
  const [open, close] = [canonicalOpening(begun), canonicalClosing(ended)];
  const sha256 = contentTextHash(open, close, upstreamModel(open, close));
  const { document, sequence } = sealer.seal(
    `${beforeSeal(open, close, origin, `"${sha256}"`)},"seal":{`,
    `}${afterSeal(open, close, origin)}`,
  );
  return { document, sha256, sequence };
}

/** All there is to know of a run that has ended. */
export interface Ended {
  readonly open: OpenTexts;
  readonly close: CloseTexts;
  readonly origin: Origin;
  readonly sealer: Sealer;
}

/** How a run ended whose process died: it began, and it did not end in an orderly way. */
export function interruption(at: number): CloseTexts {
  const error = jsonText({ code: 'internal', message: 'the process that served this run ended before the run did' });
  return { ...NOT_ENDED, at: String(at), status: '"failed"', reason: '"interrupted"', error };
}

/** The model the engine says it was, else the one it was sent. */
export function upstreamModel(open: OpenTexts, close: CloseTexts): string {
  return close.upstreamModel === 'null' ? open.upstreamModel : close.upstreamModel;
}

/** Values that may hold escapes or members in another order, as the bytes of their RFC 8785 form; the others have no other. */
function canonicalOpening(open: OpenTexts): OpenTexts {
  return {
    ...open,
    task: plainText(open.task),
    dialect: plainText(open.dialect),
    engine: plainText(open.engine),
    backend: plainText(open.backend),
    requestedModel: plainText(open.requestedModel),
    upstreamModel: plainText(open.upstreamModel),
    negotiation: canonicalText(open.negotiation),
    emulations: canonicalText(open.emulations),
    fidelity: canonicalText(open.fidelity),
    tags: plainText(open.tags),
    keyId: plainText(open.keyId),
  };
}

function canonicalClosing(close: CloseTexts): CloseTexts {
  return {
    ...close,
    reason: plainText(close.reason),
    error: plainText(close.error),
    upstreamModel: plainText(close.upstreamModel),
    toolCalls: plainText(close.toolCalls),
    attempts: plainText(close.attempts),
    artifacts: canonicalText(close.artifacts),
    workspaceDelta: canonicalText(close.workspaceDelta),
    backendVersion: plainText(close.backendVersion),
    cost: plainText(close.cost),
  };
}

/** The document's members in the order of RFC 8785, up to its seal: the text is hashed as it stands. */
function beforeSeal(open: OpenTexts, close: CloseTexts, origin: Origin, sha256: string): string {
  return (
    `{"artifacts":${close.artifacts},"attempts":${close.attempts},"backend":{"id":${open.backend},"version":${close.backendVersion}}` +
    `,"compatibility":${open.compatibility},"completed_at":${close.at === '' ? 'null' : `"${isoTime(Number(close.at))}"`}` +
    `,"contract_version":"${CONTRACT_VERSION}","cost":${close.cost},"dialect":${open.dialect},"emulations":${open.emulations}` +
    `,"enforcement":${open.enforcement},"engine":${open.engine},"error":${close.error},"event_count":${close.eventCount}` +
    `,"fidelity":${open.fidelity},"hash_profile":"${HASH_PROFILE}","id":"${hyphenate(open.run.slice('run_'.length))}","key_id":${open.keyId}` +
    `,"mode":${open.mode},"model":{"requested":${open.requestedModel},"upstream":${upstreamModel(open, close)}},"negotiation":${open.negotiation}` +
    `,"node":"${origin.node}","parent_run_id":${open.parent},"plane":${open.plane},"reason":${close.reason},"receipt_sha256":${sha256}` +
    `,"recording":${open.recording},"replayable":${close.replayable},"request":${open.request},"response":${close.response},"run_id":"${open.run}"`
  );
}

function afterSeal(open: OpenTexts, close: CloseTexts, origin: Origin): string {
  return (
    `,"started_at":"${isoTime(Number(open.at))}","status":${close.status},"tags":${open.tags},"task":${open.task}` +
    `,"timing":{"dispatched_ms":${close.dispatchedMs},"first_byte_ms":${close.firstByteMs},"last_byte_ms":${close.lastByteMs},"received_at_ms":${open.at}}` +
    `,"tool_calls":${close.toolCalls},"upstream_request":${open.upstreamRequest},"usage":${close.usage},"version":"${origin.version}"` +
    `,"workspace_delta":${close.workspaceDelta}}`
  );
}
