import type { Receipt } from '../../api/types.ts';
import type { CheckedSeal } from '../../base/seal/verify.ts';
import type { Specimen } from '../../base/specimen.ts';
import { ReceiptSlip } from './receipt-slip.tsx';

const HASH = '6ff9812580d28804df50c250e3a0eb38d32d5f0afa9ad9f7b00860d8a29a1dda';
const RUN = 'run_01a1f09139ed704d93edc371fa3d3ee8';

/** What the slip shows of a receipt. */
const SHOWN = {
  run_id: RUN,
  plane: 'gateway',
  contract_version: 'abp/v0.1',
  mode: 'mapped',
  compatibility: 'best_effort',
  dialect: 'claude',
  engine: 'gemini',
  model: { requested: 'gemini-2.5-pro', upstream: 'gemini-2.5-pro' },
  reason: null,
  request: { bytes: 586, sha256: HASH },
  upstream_request: { bytes: 575, sha256: HASH },
  response: { bytes: 615, sha256: HASH, status: 200 },
  tool_calls: [{ name: 'lookup_release', id: 'call_1', arguments_sha256: HASH, result_sha256: null }],
  usage: {
    ...{ input_tokens: 214, output_tokens: 402, thinking_tokens: 118, cache_read_tokens: 0, cache_write_tokens: 0 },
    ...{ web_search_requests: 0, estimated: false },
  },
  cost: { nano_usd: 4_287_500, price_version: 'genai-prices 0.1.8' },
  receipt_sha256: HASH,
  seal: { sequence: 48_211, previous: HASH, hash: HASH, key_id: 'key_37103758a9eb2624' },
};
// The slip reads no other member; a whole receipt would hide which ones it does.
const RECEIPT = SHOWN as unknown as Receipt;

const HEAD = { sequence: 48_256, hash: HASH, keyId: 'key_37103758a9eb2624', at: '2026-11-18T21:39:02Z' };
const CHECKED: CheckedSeal = {
  verdict: 'valid',
  code: null,
  message: '',
  sequence: 48_211,
  head: HEAD,
  held: 3,
  by: 'this browser',
  checkedAt: Date.now(),
  newKey: false,
  tail: null,
};
const BROKEN: CheckedSeal = { ...CHECKED, verdict: 'invalid', head: null };
const CUT = {
  code: 'cut' as const,
  message: 'Head 48,300 was seen before; the chain ends at 48,256 now.',
  kept: { ...HEAD, sequence: 48_300 },
};

const checked = (name: string, seal: CheckedSeal | Error, receipt = RECEIPT): Specimen => ({
  name,
  shows: (
    <div className="column">
      <ReceiptSlip receipt={receipt} />
    </div>
  ),
  answers: [
    [['seal', RUN, HASH], seal],
    [['rates', 'gemini', 'gemini-2.5-pro'], { input: 1_250_000_000, output: 10_000_000_000, cache_read: 0, cache_write: 0 }],
  ],
});

export const states: readonly Specimen[] = [
  checked('sealed and checked', CHECKED),
  checked('a head was kept elsewhere', { ...CHECKED, tail: { code: null, message: '', kept: { ...HEAD, sequence: 48_290 } } }),
  checked('checked by the server', { ...CHECKED, by: 'the server', head: null }),
  checked('signed with another key', { ...CHECKED, newKey: true }),
  checked('changed', { ...BROKEN, code: 'changed', message: 'Entry 48,211 was changed.', held: 0 }),
  checked('a broken link', { ...BROKEN, code: 'broken_link', message: 'Entry 48,211 does not follow entry 48,210.', held: 1 }),
  checked('a bad signature', {
    ...BROKEN,
    code: 'bad_signature',
    message: 'The signature of head 48,256 is not that of the key.',
    held: 2,
  }),
  checked('the chain was cut', { ...CHECKED, tail: CUT }),
  checked('could not be checked', new Error('The proof could not be read.')),
  checked('not sealed yet', CHECKED, { ...RECEIPT, seal: null, completed_at: null }),
  checked('never sealed', CHECKED, { ...RECEIPT, seal: null, completed_at: '2026-11-15T20:38:50.000Z' }),
];
