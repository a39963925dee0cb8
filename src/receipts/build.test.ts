import { describe, expect, it } from 'vitest';
import { closeFact, openFact } from '../../test/support/facts.ts';
import { Receipt } from '../contract/receipt.ts';
import { closedReceipt, interruptedReceipt, runningReceipt } from './build.ts';

const origin = { node: 'node_a', version: '1.2.3' };

describe('a receipt', () => {
  it('of a run that has begun has no end and no hash', () => {
    const receipt = runningReceipt(openFact(), origin);
    expect(Receipt.parse(receipt)).toEqual(receipt);
    expect(receipt).toMatchObject({ status: 'running', completed_at: null, response: null, receipt_sha256: null, usage: null, seal: null });
  });

  it('of a run that has ended says what it did', () => {
    const receipt = closedReceipt(runningReceipt(openFact(), origin), closeFact());
    expect(Receipt.parse(receipt)).toEqual(receipt);
    expect(receipt).toMatchObject({
      id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
      run_id: 'run_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b',
      status: 'completed',
      started_at: '2027-01-15T08:00:00.000Z',
      completed_at: '2027-01-15T08:00:00.250Z',
      model: { requested: 'sim-1', upstream: 'sim-1-20270101' },
      event_count: 7,
      timing: { received_at_ms: 1_800_000_000_000, dispatched_ms: 1, first_byte_ms: 2.5, last_byte_ms: 200 },
      node: 'node_a',
      version: '1.2.3',
    });
  });

  it('keeps the model that was sent on when the engine names none', () => {
    const receipt = closedReceipt(runningReceipt(openFact({ upstreamModel: 'sent' }), origin), closeFact({ upstreamModel: null }));
    expect(receipt.model).toEqual({ requested: 'sim-1', upstream: 'sent' });
  });

  it('of an interrupted run failed, with what is known', () => {
    const receipt = interruptedReceipt(runningReceipt(openFact(), origin), 1_800_000_005_000);
    expect(Receipt.parse(receipt)).toEqual(receipt);
    expect(receipt).toMatchObject({ status: 'failed', reason: 'interrupted', completed_at: '2027-01-15T08:00:05.000Z' });
    expect(receipt.receipt_sha256).toMatch(/^[0-9a-f]{64}$/);
  });
});
