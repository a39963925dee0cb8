import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closeFact, closeTextsOf, openFact, openTextsOf, runIdOf, unsignedSealer } from '../../../test/support/facts.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { Receipt } from '../../contract/receipts/receipt.ts';
import type { CloseFact, OpenFact } from '../journal/facts.ts';
import { type Built, closedReceipt } from '../keeper/build.ts';
import { contentHash, withoutMember } from './content-hash.ts';

function built(open: Partial<OpenFact>, close: Partial<CloseFact>, node = 'node_a'): Built {
  const texts = { open: openTextsOf(openFact(open)), close: closeTextsOf(closeFact(close)) };
  return closedReceipt({ ...texts, origin: { node, version: '1' }, sealer: unsignedSealer() });
}

function hashOf(open: Partial<OpenFact> = {}, close: Partial<CloseFact> = {}, node = 'node_a'): string | null {
  return built(open, close, node).sha256;
}

describe('receipt_sha256', () => {
  it('is the hash of the RFC 8785 form of what the run did', () => {
    expect(hashOf()).toBe('aaf9ca34dff566315727e6510ebb54b4f86d47bfeaa46695cbfdbb4b291a0dfa');
  });

  it('is the same for ever under the first profile, which knew less of a run', () => {
    const document = JSON.parse(built({}, {}).document.toString('utf8'));
    expect(contentHash({ ...document, hash_profile: 'abp-content/1' })).toBe(
      '22709314a35ba5afbd601e27aac9adbe0b2664fac7c54f77148c2dac51110c50',
    );
    expect(() => contentHash({ ...document, hash_profile: 'abp-content/9' })).toThrow('no known hash profile');
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
    ['answer fidelity', {}, { answerFidelity: [{ path: 'content[*].citations', fate: 'dropped' }] }],
    ['rules', { rules: [{ rule: 'deny_network', by: 'os' }] }, {}],
    ['enforcement', { enforcement: 'advisory' }, {}],
    ['change set', {}, { changeSet: { sha256: 'e'.repeat(64), bytes: 2, added: 1, modified: 0, removed: 0, state: 'staged' } }],
  ])('depends on %s', (_, open, close) => {
    expect(hashOf(open, close)).not.toBe(hashOf());
  });

  it('exists for names that are not well-formed text', () => {
    expect(hashOf({ upstreamModel: '\ud800' }, { upstreamModel: null })).toMatch(/^[0-9a-f]{64}$/);
    const toolCalls = [{ id: null, name: '\udc00', arguments_sha256: 'c'.repeat(64), result_sha256: null }];
    expect(hashOf({}, { toolCalls })).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is the hash of the allowlist in its RFC 8785 form, whatever the run did', () => {
    const name = fc.string({ unit: 'binary', maxLength: 12 });
    const count = fc.nat();
    const digest = fc.record({ sha256: fc.constantFrom('a'.repeat(64), 'b'.repeat(64)), bytes: count });
    const open = fc.record({
      requestedModel: fc.option(name),
      upstreamModel: fc.option(name),
      mode: fc.constantFrom('passthrough', 'mapped', null),
      compatibility: fc.constantFrom('strict', 'best_effort'),
      engine: fc.constantFrom('claude', 'openai', null),
      fidelity: fc.constantFrom([], [{ path: 'messages[*]', fate: 'renamed', note: 'größer → kleiner' }] as const),
      request: fc.option(digest),
      upstreamRequest: fc.option(digest),
      tags: fc.array(name, { maxLength: 2 }),
    });
    const close = fc.record({
      status: fc.constantFrom('completed', 'failed', 'cancelled'),
      reason: fc.constantFrom(null, 'engine_error', 'client_closed'),
      error: fc.option(fc.record({ code: fc.constant('internal'), message: name })),
      response: fc.option(fc.record({ sha256: fc.constant('c'.repeat(64)), bytes: count, status: fc.constantFrom(200, 429) })),
      upstreamModel: fc.option(name),
      eventCount: count,
      usage: fc.option(
        fc.record({
          input_tokens: count,
          output_tokens: count,
          cache_read_tokens: count,
          cache_write_tokens: count,
          thinking_tokens: count,
          web_search_requests: count,
          estimated: fc.boolean(),
        }),
      ),
      toolCalls: fc.array(
        fc.record({ id: fc.option(name), name, arguments_sha256: fc.constant('d'.repeat(64)), result_sha256: fc.constant(null) }),
        {
          maxLength: 2,
        },
      ),
    });
    fc.assert(
      fc.property(open, close, (begun, ended) => {
        const { document: bytes, sha256 } = built(begun, ended);
        const document = bytes.toString('utf8');
        const receipt = Receipt.parse(JSON.parse(document));
        expect(document).toBe(canonicalJson(JSON.parse(document)));
        expect(receipt.receipt_sha256).toBe(sha256);
        expect(sha256).toBe(contentHash(JSON.parse(document)));
        expect(receipt.model).toEqual({ requested: begun.requestedModel, upstream: ended.upstreamModel ?? begun.upstreamModel });
        expect(receipt.tool_calls).toEqual(ended.toolCalls);
        expect(receipt.error).toEqual(ended.error);
      }),
    );
  });
});

it('the text of a list without a member is that of the list written without it', () => {
  const word = fc.oneof(fc.string(), fc.constantFrom('"id":', '\\', '","id":"x', 'id', '}', ','));
  const item = fc.record(
    { before: word, id: fc.oneof(word, fc.constant(null), fc.integer()), name: word, z: fc.option(fc.boolean()) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(item), fc.constantFrom('id', 'before', 'z'), (items, member) => {
      const left = items.map((one) => Object.fromEntries(Object.entries(one).filter(([name]) => name !== member)));
      expect(withoutMember(JSON.stringify(items), member)).toBe(JSON.stringify(left));
    }),
  );
});
