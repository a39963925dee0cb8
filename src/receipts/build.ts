import { isoTime } from '../base/clock.ts';
import { hyphenate } from '../base/ids.ts';
import { parseJsonObject } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import type { Receipt } from '../contract/receipt.ts';
import { CONTRACT_VERSION, HASH_PROFILE } from '../contract/version.ts';
import { contentHash, plainContentHash } from './content-hash.ts';
import { type CloseTexts, jsonText, type OpenTexts } from './fact-line.ts';

/** Where the receipt is built. */
export interface Origin {
  readonly node: string;
  readonly version: string;
}

/** A receipt as it is stored: its JSON text, and the hash that is in it. */
export interface Built {
  readonly document: string;
  readonly sha256: string | null;
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
};

/** The receipt of a run that has begun: no end, no hash. */
export function runningReceipt(open: OpenTexts, origin: Origin): Built {
  return { document: `${beginning(open, origin)}${ending(open, NOT_ENDED)}${hashed(null)}`, sha256: null };
}

/** The receipt of a run that has ended. */
export function closedReceipt(open: OpenTexts, close: CloseTexts, origin: Origin): Built {
  const text = `${beginning(open, origin)}${ending(open, close)}`;
  const sha256 = plainContentHash(open, close, upstreamModel(open, close)) ?? contentHash(parsed(`${text}${hashed(null)}`));
  return { document: `${text}${hashed(sha256)}`, sha256 };
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

function beginning(open: OpenTexts, origin: Origin): string {
  return (
    `{"id":"${hyphenate(open.run.slice('run_'.length))}","run_id":"${open.run}","contract_version":"${CONTRACT_VERSION}","hash_profile":"${HASH_PROFILE}"` +
    `,"plane":${open.plane},"task":${open.task},"started_at":"${isoTime(Number(open.at))}","dialect":${open.dialect},"engine":${open.engine}` +
    `,"backend":{"id":${open.backend},"version":null},"mode":${open.mode},"compatibility":${open.compatibility},"negotiation":${open.negotiation}` +
    `,"emulations":${open.emulations},"fidelity":${open.fidelity},"request":${open.request},"upstream_request":${open.upstreamRequest}` +
    `,"enforcement":${open.enforcement},"recording":${open.recording},"tags":${open.tags},"key_id":${open.keyId}` +
    `,"node":"${origin.node}","version":"${origin.version}"`
  );
}

function ending(open: OpenTexts, close: CloseTexts): string {
  return (
    `,"status":${close.status},"reason":${close.reason},"error":${close.error},"completed_at":${close.at === '' ? 'null' : `"${isoTime(Number(close.at))}"`}` +
    `,"model":{"requested":${open.requestedModel},"upstream":${upstreamModel(open, close)}},"response":${close.response},"event_count":${close.eventCount}` +
    `,"usage":${close.usage},"cost":null,"tool_calls":${close.toolCalls},"artifacts":[],"workspace_delta":null` +
    `,"timing":{"received_at_ms":${open.at},"dispatched_ms":${close.dispatchedMs},"first_byte_ms":${close.firstByteMs},"last_byte_ms":${close.lastByteMs}}` +
    `,"attempts":${close.attempts},"replayable":false`
  );
}

function hashed(sha256: string | null): string {
  return `,"receipt_sha256":${sha256 === null ? 'null' : `"${sha256}"`},"seal":null}`;
}

function parsed(document: string): Receipt {
  const value = parseJsonObject(document);
  if (value === undefined) throw new AbpError('internal', 'a receipt was built that is not JSON');
  return value as unknown as Receipt; // built above, member by member
}
