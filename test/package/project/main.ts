import { deepStrictEqual, ok } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composed } from './capabilities.ts';
import { abilities, client, installation, models, plugins, refusal } from './coding-agents.ts';
import { classified, emulated, negotiated, order, satisfied, strategies } from './contract.ts';
import { delivered, fetched } from './receipts.ts';
import { described, isLimit } from './types.ts';

const [, , url = ''] = process.argv;

const mux = client(mkdtempSync(join(tmpdir(), 'abp-package-')));
deepStrictEqual(abilities(mux), ['low', 'medium', 'high', 'max']);
deepStrictEqual(refusal(mux), { code: 'CAPABILITY_ERROR', agent: 'copilot', capability: 'sessionFork' });
ok(installation(mux, 'claude').length > 0);
ok(plugins(mux.adapters.capabilities('openclaw'))[1].length === 2);
ok((await models(mux)) > 2000);
await mux.close();

deepStrictEqual(satisfied(), [true, false, false, true]);
deepStrictEqual(negotiated(), [
  true,
  3,
  {
    compatible: true,
    native_count: 2,
    emulated_count: 1,
    unsupported_count: 0,
    summary: '2 native, 1 emulatable, 0 unsupported — fully compatible',
    details: [
      ['Streaming', { level: 'native' }],
      ['ToolRead', { level: 'native' }],
      ['ToolWrite', { level: 'emulated', strategy: 'adapter' }],
    ],
  },
]);
deepStrictEqual(classified(), ['native', 'emulated', 'emulated', 'unsupported']);
const [report, own, warned, empty] = emulated();
deepStrictEqual([report.applied.length, report.warnings.length, own.warnings.length, warned, empty], [1, 1, 0, true, false]);
deepStrictEqual(strategies(), ['system_prompt_injection', 'disabled', true, false]);
deepStrictEqual(order().requirements, { required: [{ capability: 'streaming', min_support: 'native' }] });

const base = { runId: 'run_1', agent: 'claude', timestamp: 1 };
deepStrictEqual(described({ type: 'session_fork', ...base, sessionId: 'b', forkedFrom: 'a' }), 'b of a');
deepStrictEqual([isLimit('RATE_LIMITED'), isLimit('AGENT_CRASH')], [true, false]);

deepStrictEqual(
  (await composed(url)).items.map(({ capability_id, position }) => [capability_id, position]),
  [
    ['current_time', 0],
    ['test_math', 1],
  ],
);
const first = await fetched(url);
deepStrictEqual([first.status, (first.usage?.output_tokens ?? 0) > 0, Array.isArray(first.artifacts)], ['completed', true, true]);
const second = await delivered(url, first);
ok(second.run_id !== first.run_id);
process.stdout.write('ok\n');
