import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SidecarEnvelope, SidecarEvent, SidecarReceipt, splitCapabilities } from './sidecar.ts';

const bareReceipt = {
  meta: {
    run_id: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
    work_order_id: '00000000-0000-0000-0000-000000000000',
    contract_version: 'abp/v0.1',
    started_at: '2026-01-02T05:04:05.000+02:00',
    finished_at: '2026-01-02T03:04:05.5Z',
    duration_ms: 500,
  },
  backend: { id: 'mock' },
  capabilities: {},
  usage_raw: null,
  usage: {},
  trace: [],
  artifacts: [],
  verification: { harness_ok: false },
  outcome: 'partial',
};

describe('optional scalars', () => {
  it('become null in a receipt, and the mode becomes mapped', () => {
    expect(SidecarReceipt.parse(bareReceipt)).toEqual({
      meta: { ...bareReceipt.meta, started_at: '2026-01-02T03:04:05Z', finished_at: '2026-01-02T03:04:05.500Z' },
      backend: { id: 'mock', backend_version: null, adapter_version: null },
      capabilities: {},
      mode: 'mapped',
      usage_raw: null,
      usage: {
        input_tokens: null,
        output_tokens: null,
        cache_read_tokens: null,
        cache_write_tokens: null,
        request_units: null,
        estimated_cost_usd: null,
      },
      trace: [],
      artifacts: [],
      verification: { git_diff: null, git_status: null, harness_ok: false },
      outcome: 'partial',
      receipt_sha256: null,
    });
  });

  it('stay absent for ext and error_code, which are left out when empty', () => {
    const event = SidecarEvent.parse({ ts: '2026-01-02T03:04:05Z', type: 'error', message: 'm', error_code: null, ext: null });
    expect(JSON.stringify(event)).toBe('{"ts":"2026-01-02T03:04:05Z","type":"error","message":"m"}');
    const fatal = SidecarEnvelope.parse({ t: 'fatal', error: 'no key' });
    expect(JSON.stringify(fatal)).toBe('{"t":"fatal","ref_id":null,"error":"no key"}');
  });
});

it('ignores unknown fields at every level', () => {
  const extra = fc.dictionary(
    fc.string().filter((key) => key.startsWith('x')),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(extra, (more) => {
      const noisy = {
        ...more,
        ...bareReceipt,
        meta: { ...more, ...bareReceipt.meta },
        verification: { ...more, ...bareReceipt.verification },
      };
      expect(SidecarReceipt.parse(noisy)).toEqual(SidecarReceipt.parse(bareReceipt));
    }),
  );
});

it('keeps capabilities of a hello that we do not know and tells them apart', () => {
  const hello = SidecarEnvelope.parse({
    t: 'hello',
    contract_version: 'abp/v0.1',
    backend: { id: 'x' },
    capabilities: {
      telepathy: 'native',
      streaming: 'native',
      tool_bash: { restricted: { reason: 'sandbox', since: 1 } },
      mind: 'emulated',
    },
  });
  if (hello.t !== 'hello') throw new Error('not a hello');
  expect(hello.mode).toBe('mapped');
  expect(splitCapabilities(hello.capabilities)).toEqual({
    manifest: { streaming: 'native', tool_bash: { restricted: { reason: 'sandbox' } } },
    unknown: ['telepathy', 'mind'],
  });
});
