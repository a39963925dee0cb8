import { describe, expect, it } from 'vitest';
import { closeFact, openFact, runIdOf } from '../../test/support/facts.ts';
import { closedReceipt, runningReceipt } from './build.ts';
import type { CloseFact, OpenFact } from './facts.ts';

function hashOf(open: Partial<OpenFact> = {}, close: Partial<CloseFact> = {}, node = 'node_a'): string | null {
  return closedReceipt(runningReceipt(openFact(open), { node, version: '1' }), closeFact(close)).receipt_sha256;
}

describe('receipt_sha256', () => {
  it('is the hash of the RFC 8785 form of what the run did', () => {
    expect(hashOf()).toBe('22709314a35ba5afbd601e27aac9adbe0b2664fac7c54f77148c2dac51110c50');
  });

  it.each<[string, Partial<OpenFact>, Partial<CloseFact>]>([
    ['run id', { run: runIdOf('0190a1b2c3d47e5f8a9b0c1d2e3f4a5c') }, {}],
    ['times', { at: 1 }, { at: 2, dispatchedMs: 9, firstByteMs: null, lastByteMs: 10 }],
    ['attempts', {}, { attempts: [] }],
    ['tags', { tags: [] }, {}],
    ['key', { keyId: 'key_1' }, {}],
    ['recording', { recording: 'off' }, {}],
    ['requested model', { requestedModel: 'alias' }, {}],
    ['task', { task: 'other' }, {}],
    ['tool call ids', {}, { toolCalls: [{ id: 'other', name: 'search', arguments_sha256: 'c'.repeat(64), result_sha256: null }] }],
  ])('does not depend on %s', (_, open, close) => {
    expect(hashOf(open, close)).toBe(hashOf());
  });

  it('does not depend on the node', () => {
    expect(hashOf({}, {}, 'node_b')).toBe(hashOf());
  });

  it.each<[string, Partial<OpenFact>, Partial<CloseFact>]>([
    ['status', {}, { status: 'failed' }],
    ['reason', {}, { reason: 'client_closed' }],
    ['engine', { engine: 'claude' }, {}],
    ['dialect', { dialect: 'gemini' }, {}],
    ['upstream model', {}, { upstreamModel: 'other' }],
    ['mode', { mode: 'mapped' }, {}],
    ['compatibility', { compatibility: 'strict' }, {}],
    ['fidelity', { fidelity: [{ path: 'model', fate: 'renamed', note: '' }] }, {}],
    ['request', { request: { sha256: 'd'.repeat(64), bytes: 10 } }, {}],
    ['upstream request', { upstreamRequest: null }, {}],
    ['response', {}, { response: { sha256: 'b'.repeat(64), bytes: 20, status: 201 } }],
    ['event count', {}, { eventCount: 8 }],
    ['usage', {}, { usage: null }],
    ['tool calls', {}, { toolCalls: [] }],
  ])('depends on %s', (_, open, close) => {
    expect(hashOf(open, close)).not.toBe(hashOf());
  });

  it('exists for names that are not well-formed text', () => {
    expect(hashOf({ upstreamModel: '\ud800' }, { upstreamModel: null })).toMatch(/^[0-9a-f]{64}$/);
    const toolCalls = [{ id: null, name: '\udc00', arguments_sha256: 'c'.repeat(64), result_sha256: null }];
    expect(hashOf({}, { toolCalls })).toMatch(/^[0-9a-f]{64}$/);
  });
});
