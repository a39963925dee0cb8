import { describe, expect, it } from 'vitest';
import { closeFact, closeTextsOf, openFact, openTextsOf, unsignedSealer } from '../../../test/support/facts.ts';
import { Receipt } from '../../contract/receipts/receipt.ts';
import type { CloseTexts, OpenTexts } from '../journal/texts.ts';
import { type Built, closedReceipt, interruption, runningReceipt } from './build.ts';

const origin = { node: 'node_a', version: '1.2.3' };
const open = openTextsOf(openFact());
const closed = (opening: OpenTexts, close: CloseTexts): Built => closedReceipt({ open: opening, close, origin, sealer: unsignedSealer() });
/** The document, which must follow the contract. */
const parsed = ({ document }: Built): Receipt => Receipt.parse(JSON.parse(document.toString('utf8')));

describe('a receipt', () => {
  it('of a run that has begun has no end and no hash', () => {
    expect(parsed(runningReceipt(open, origin))).toMatchObject({
      status: 'running',
      completed_at: null,
      response: null,
      receipt_sha256: null,
      usage: null,
      seal: null,
    });
  });

  it('of a run that has ended says what it did', () => {
    const receipt = parsed(closed(open, closeTextsOf(closeFact())));
    expect(receipt).toEqual({
      id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
      run_id: 'run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b',
      parent_run_id: null,
      contract_version: 'abp/v0.1',
      hash_profile: 'abp-content/2',
      plane: 'gateway',
      status: 'completed',
      reason: null,
      task: 'POST /v1/messages → sim',
      started_at: '2027-01-15T08:00:00.000Z',
      completed_at: '2027-01-15T08:00:00.250Z',
      dialect: 'claude',
      engine: 'sim',
      model: { requested: 'sim-1', upstream: 'sim-1-20270101' },
      mode: 'passthrough',
      compatibility: 'best_effort',
      negotiation: null,
      emulations: [],
      fidelity: [],
      answer_fidelity: [],
      request: { sha256: 'a'.repeat(64), bytes: 10 },
      upstream_request: { sha256: 'a'.repeat(64), bytes: 10 },
      response: { sha256: 'b'.repeat(64), bytes: 20, status: 200 },
      event_count: 7,
      usage: {
        input_tokens: 3,
        output_tokens: 4,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        thinking_tokens: 0,
        web_search_requests: 0,
        estimated: false,
      },
      cost: null,
      backend: { id: 'engine:sim', version: null },
      tool_calls: [{ id: 'call_1', name: 'search', arguments_sha256: 'c'.repeat(64), result_sha256: null }],
      artifacts: [],
      workspace_delta: null,
      change_set: null,
      timing: { received_at_ms: 1_800_000_000_000, dispatched_ms: 1, first_byte_ms: 2.5, last_byte_ms: 200 },
      attempts: [{ engine: 'sim', status: 200, error: null, ms: 199 }],
      enforcement: 'enforced',
      rules: [],
      work_order: null,
      approvals: [],
      check: null,
      entrants: [],
      sidecar_receipt: null,
      recording: 'full',
      replayable: false,
      tags: ['blue'],
      key_id: null,
      node: 'node_a',
      version: '1.2.3',
      error: null,
      receipt_sha256: 'aaf9ca34dff566315727e6510ebb54b4f86d47bfeaa46695cbfdbb4b291a0dfa',
      seal: { sequence: 1, previous: '0'.repeat(64), hash: '1'.repeat(64), key_id: 'key_1' },
    });
  });

  it('keeps the model that was sent on when the engine names none', () => {
    const sent = openTextsOf(openFact({ upstreamModel: 'sent' }));
    const receipt = parsed(closed(sent, closeTextsOf(closeFact({ upstreamModel: null }))));
    expect(receipt.model).toEqual({ requested: 'sim-1', upstream: 'sent' });
  });

  it('of an interrupted run failed, with what is known', () => {
    const receipt = parsed(closed(open, interruption(1_800_000_005_000)));
    expect(receipt).toMatchObject({ status: 'failed', reason: 'interrupted', completed_at: '2027-01-15T08:00:05.000Z' });
    expect(receipt.error?.message).toBe('the process that served this run ended before the run did');
    expect(receipt.receipt_sha256).toMatch(/^[0-9a-f]{64}$/);
  });
});
