import { CAPABILITIES } from '../src/contract/capability.ts';
import type { CapabilityManifest, CapabilityRequirements, SupportLevel } from '../src/contract/support.ts';
import { negotiate } from '../src/negotiation/negotiate.ts';
import { generateReport } from '../src/negotiation/report.ts';

export interface BenchResult {
  readonly name: string;
  /** Median over the samples, for one negotiation with its report. */
  readonly nsPerOp: number;
  readonly samples: readonly number[];
}

const REQUIREMENTS = 20;
const SAMPLES = 15;
const ITERATIONS = 20_000;
const LEVELS: readonly SupportLevel[] = ['native', 'emulated', { restricted: { reason: 'sandbox only' } }, 'unsupported'];

/** Time of `negotiate` and `generateReport` together for 20 requirements at all levels. */
export function benchNegotiation(): BenchResult {
  const rows = CAPABILITIES.slice(0, REQUIREMENTS);
  const manifest: CapabilityManifest = Object.fromEntries(rows.map((row, index) => [row.name, LEVELS[index % LEVELS.length]]));
  const requirements: CapabilityRequirements = { required: rows.map((row) => ({ capability: row.name, min_support: 'emulated' })) };
  sample(manifest, requirements);
  const samples = Array.from({ length: SAMPLES }, () => sample(manifest, requirements)).sort((a, b) => a - b);
  return { name: `negotiate + report, ${REQUIREMENTS} requirements`, nsPerOp: Math.round(samples[SAMPLES >> 1] ?? Number.NaN), samples };
}

/** Nanoseconds per operation. The sum keeps the work from being optimised away. */
function sample(manifest: CapabilityManifest, requirements: CapabilityRequirements): number {
  let details = 0;
  const start = process.hrtime.bigint();
  for (let i = 0; i < ITERATIONS; i++) details += generateReport(negotiate(manifest, requirements), manifest).details.length;
  const elapsed = Number(process.hrtime.bigint() - start);
  if (details !== ITERATIONS * REQUIREMENTS) throw new Error('the report has lost details');
  return elapsed / ITERATIONS;
}

if (import.meta.main) {
  const { name, nsPerOp, samples } = benchNegotiation();
  const [low, high] = [samples[0] ?? 0, samples.at(-1) ?? 0];
  process.stdout.write(`${name}: ${nsPerOp} ns (${low.toFixed(0)} to ${high.toFixed(0)} over ${samples.length} samples)\n`);
}
