import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { benchAdmission } from './admission.ts';
import { benchAffinity } from './affinity.ts';
import { benchBalancing } from './balancing.ts';
import { benchFairness } from './fairness.ts';
import { benchFleet } from './fleet.ts';
import type { BenchReport } from './harness.ts';
import { judge } from './harness.ts';
import { benchHeld } from './held.ts';
import { benchManyReceipts } from './many-receipts.ts';
import { benchMapped } from './mapped.ts';
import { benchNegotiation } from './negotiation.ts';
import { benchParts } from './parts.ts';
import { benchPassthrough } from './passthrough.ts';
import { benchPeers } from './peers.ts';
import { benchReceipts } from './receipts.ts';
import { benchSandbox } from './sandbox.ts';
import { benchStart } from './start.ts';
import { benchStreams } from './streams.ts';
import { benchTelemetry } from './telemetry.ts';
import { benchTurns } from './turns.ts';

const MOST_NEGOTIATION_NS = 2000;
const BENCHES: Readonly<Record<string, () => Promise<BenchReport>>> = {
  negotiation: reportNegotiation,
  admission: benchAdmission,
  telemetry: benchTelemetry,
  held: benchHeld,
  balancing: benchBalancing,
  affinity: benchAffinity,
  fairness: benchFairness,
  start: benchStart,
  passthrough: benchPassthrough,
  mapped: benchMapped,
  receipts: benchReceipts,
  'many-receipts': benchManyReceipts,
  parts: benchParts,
  peers: benchPeers,
  sandbox: benchSandbox,
  streams: benchStreams,
  turns: benchTurns,
  fleet: benchFleet,
};
const DOCUMENT = new URL('../docs/benchmarks.md', import.meta.url);
const HEAD = `# Benchmarks

Written by \`npm run bench\`; \`npm run bench -- start\` renews one section. Figures are of the machine named in each section and
only compare with figures of the same run.

`;

async function reportNegotiation(): Promise<BenchReport> {
  const { name, nsPerOp, samples } = benchNegotiation();
  const figure = `${nsPerOp} ns (${(samples[0] ?? 0).toFixed(0)}–${(samples.at(-1) ?? 0).toFixed(0)})`;
  const target = `< ${MOST_NEGOTIATION_NS} ns`;
  return {
    title: 'Negotiation',
    method: `Median of ${samples.length} samples in one warm process, with the extremes.`,
    findings: [{ what: name, figure, target, verdict: judge(nsPerOp, MOST_NEGOTIATION_NS) }],
    table: [],
  };
}

function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function section({ title, method, findings, table: rows }: BenchReport, load: number): string {
  const machine = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), load average ${load.toFixed(1)} before.`;
  const verdicts = table([
    ['what', 'measured', 'target', 'verdict'],
    ...findings.map(({ what, figure, target, verdict }) => [what, figure, target, verdict]),
  ]);
  return `## ${title}\n\n${machine} ${method}\n\n${verdicts}${rows.length === 0 ? '' : `\n${table(rows)}`}\n`;
}

/** The document with some sections renewed; the others stay as they are. */
function renewed(document: string, sections: ReadonlyMap<string, string>): string {
  const kept = new Map(
    document.split(/^(?=## )/m).flatMap((part) => (part.startsWith('## ') ? [[titleOf(part), `${part.trimEnd()}\n\n`]] : [])),
  );
  for (const [title, text] of sections) kept.set(title, text);
  return `${(HEAD + [...kept.values()].join('')).trimEnd()}\n`;
}

function titleOf(part: string): string {
  return part.slice('## '.length, part.indexOf('\n'));
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHES);
const unknown = wanted.filter((name) => BENCHES[name] === undefined);
if (unknown.length > 0) throw new Error(`there is no bench ${unknown.join(', ')}; known are ${Object.keys(BENCHES).join(', ')}`);
const sections = new Map<string, string>();
for (const name of wanted) {
  const [load = Number.NaN] = loadavg();
  const report = await BENCHES[name]?.();
  if (report === undefined) continue;
  const text = section(report, load);
  process.stdout.write(text);
  sections.set(report.title, text);
}
writeFileSync(DOCUMENT, renewed(existsSync(DOCUMENT) ? readFileSync(DOCUMENT, 'utf8') : '', sections));
