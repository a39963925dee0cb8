import { isoTime } from '../base/clock.ts';
import type { Receipt } from '../contract/receipt.ts';
import { runUuid } from '../contract/run-id.ts';
import { CONTRACT_VERSION, HASH_PROFILE } from '../contract/version.ts';
import { contentHash } from './content-hash.ts';
import type { CloseFact, OpenFact } from './facts.ts';

/** Where the receipt is built. */
export interface Origin {
  readonly node: string;
  readonly version: string;
}

/** The receipt of a run that has begun: no end, no hash. */
export function runningReceipt(open: OpenFact, origin: Origin): Receipt {
  return {
    id: runUuid(open.run),
    run_id: open.run,
    contract_version: CONTRACT_VERSION,
    hash_profile: HASH_PROFILE,
    plane: open.plane,
    status: 'running',
    reason: null,
    task: open.task,
    started_at: isoTime(open.at),
    completed_at: null,
    dialect: open.dialect,
    engine: open.engine,
    model: { requested: open.requestedModel, upstream: open.upstreamModel },
    mode: open.mode,
    compatibility: open.compatibility,
    negotiation: open.negotiation,
    emulations: [...open.emulations],
    fidelity: [...open.fidelity],
    request: open.request,
    upstream_request: open.upstreamRequest,
    response: null,
    event_count: 0,
    usage: null,
    cost: null,
    backend: { id: open.backend, version: null },
    tool_calls: [],
    artifacts: [],
    workspace_delta: null,
    timing: { received_at_ms: open.at, dispatched_ms: null, first_byte_ms: null, last_byte_ms: null },
    attempts: [],
    enforcement: open.enforcement,
    recording: open.recording,
    replayable: false,
    tags: [...open.tags],
    key_id: open.keyId,
    node: origin.node,
    version: origin.version,
    error: null,
    receipt_sha256: null,
    seal: null,
  };
}

/** The receipt of a run that has ended. */
export function closedReceipt(running: Receipt, close: CloseFact): Receipt {
  const receipt: Receipt = {
    ...running,
    status: close.status,
    reason: close.reason,
    completed_at: isoTime(close.at),
    model: { requested: running.model.requested, upstream: close.upstreamModel ?? running.model.upstream },
    response: close.response,
    event_count: close.eventCount,
    usage: close.usage,
    tool_calls: [...close.toolCalls],
    timing: {
      received_at_ms: running.timing.received_at_ms,
      dispatched_ms: close.dispatchedMs,
      first_byte_ms: close.firstByteMs,
      last_byte_ms: close.lastByteMs,
    },
    attempts: [...close.attempts],
    error: close.error,
  };
  return { ...receipt, receipt_sha256: contentHash(receipt) };
}

/** What is known of a run whose process died: it began, and it did not end in an orderly way. */
export function interruptedReceipt(running: Receipt, at: number): Receipt {
  const receipt: Receipt = {
    ...running,
    status: 'failed',
    reason: 'interrupted',
    completed_at: isoTime(at),
    error: { code: 'internal', message: 'the process that served this run ended before the run did' },
  };
  return { ...receipt, receipt_sha256: contentHash(receipt) };
}
