import type { ChildProcess } from 'node:child_process';
import { type Finding, formatSpread, interleave, judge, type Spread, spread } from './harness.ts';
import { send } from './passthrough.ts';
import { cpuSpent, end, type Subject, startScript, startServer } from './processes.ts';
import { trafficOf } from './traffic.ts';

const ROUNDS = 10;
const STREAMS = 1000;
const TRAFFIC = 'claude-20';
/** When the gateway without receipts differs more from itself, the machine was too busy to measure anything. */
const BAND = { low: 0.95, high: 1.05 } as const;
const VARIANTS = ['off', 'off again', 'digest', 'full'] as const;
type Variant = (typeof VARIANTS)[number];

/** What one round cost, in microseconds of processor time per stream, and what it delivered. */
interface Round {
  readonly cpu: number;
  readonly bytes: number;
}

export interface StreamsReport {
  readonly method: string;
  readonly findings: readonly Finding[];
  readonly table: readonly (readonly string[])[];
}

/** A thousand streams at once through the gateway, with receipts and without. */
export async function measureStreams(): Promise<StreamsReport> {
  const engine = await startServer('./upstream.ts', [TRAFFIC]);
  const load = startScript('./load.ts');
  const subjects = new Map<Variant, Subject>();
  try {
    for (const variant of VARIANTS) subjects.set(variant, await startVariant(variant, engine.url));
    const measure = (variant: Variant): Promise<Round> => round(load, subjects.get(variant));
    for (const variant of VARIANTS) await measure(variant);
    return report(await interleave(VARIANTS, ROUNDS, measure));
  } finally {
    for (const { child } of [...subjects.values(), engine]) await end(child);
    await end(load);
  }
}

async function startVariant(variant: Variant, engine: string): Promise<Subject> {
  const [kind = ''] = variant.split(' ');
  return await startServer('./receipts-gateway.ts', [kind, engine], { env: { ...process.env, ABP_LOG: 'warn' } });
}

async function round(load: ChildProcess, subject: Subject | undefined): Promise<Round> {
  if (subject === undefined) throw new Error('a gateway was not started');
  const order = { traffic: TRAFFIC, count: STREAMS, concurrency: STREAMS };
  const { cpu, result } = await cpuSpent(subject.pid, () => send(load, subject, order));
  return { cpu: cpu / STREAMS, bytes: result.bytes };
}

function report(rounds: ReadonlyMap<Variant, readonly Round[]>): StreamsReport {
  const cpu = (variant: Variant): number[] => (rounds.get(variant) ?? []).map((one) => one.cpu);
  const off = cpu('off').map((one, at) => (one + (cpu('off again')[at] ?? Number.NaN)) / 2);
  const added = (variant: Variant): Spread => spread(cpu(variant).map((one, at) => one - (off[at] ?? Number.NaN)));
  const itself = spread(cpu('off').map((one, at) => (cpu('off again')[at] ?? Number.NaN) / one)).median;
  const valid = itself >= BAND.low && itself <= BAND.high;
  const delivered = [...rounds.values()].flat().map(({ bytes }) => bytes);
  return {
    method:
      `Likewise ${STREAMS} streams of ${answerChunks()} chunks at once through the gateway (${ROUNDS} interleaved rounds), with receipts and recording \`digest\` or \`full\`, and in a gateway whose facts ` +
      'go nowhere: no journal, no keeper, no row. Digests and usage are computed in all of them.',
    findings: [
      {
        what: `bytes delivered to ${STREAMS} streams, with receipts and without`,
        figure: [...new Set(delivered)].join(', '),
        target: `${STREAMS * answerBytes()} in every round`,
        verdict: delivered.every((bytes) => bytes === STREAMS * answerBytes()) ? 'met' : 'not met',
      },
      ...(['digest', 'full'] as const).map((variant) => ({
        what: `CPU added per stream, recording ${variant} (without receipts against itself ${itself.toFixed(3)})`,
        figure: `${formatSpread(added(variant), 0)} µs`,
        target: '–',
        verdict: judge(added(variant).median, undefined, valid),
      })),
    ],
    table: [
      ['receipts', 'CPU µs per stream'],
      ...VARIANTS.map((variant) => [
        variant.startsWith('off') ? variant : `on, recording ${variant}`,
        formatSpread(spread(cpu(variant)), 0),
      ]),
    ],
  };
}

function answerOf(): readonly Buffer[] {
  const { answer } = trafficOf(TRAFFIC);
  return Buffer.isBuffer(answer) ? [answer] : answer;
}

function answerChunks(): number {
  return answerOf().length;
}

function answerBytes(): number {
  return answerOf().reduce((sum, chunk) => sum + chunk.length, 0);
}
