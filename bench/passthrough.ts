import type { ChildProcess } from 'node:child_process';
import { type BenchReport, type Comparison, compare, type Finding, formatSpread, interleave, judge, spread } from './harness.ts';
import type { Burst, Order } from './load.ts';
import { answer, cpuMicros, end, quiet, type Subject, scratchFolder, startGateway, startScript, startServer } from './processes.ts';
import { TRAFFIC, type Traffic } from './traffic.ts';

const ROUNDS = 12;
const CONCURRENCY = 16;
const BURST_MS = 60_000;
/** Calls one after the other, for the latency that a proxy adds when nobody waits in line. */
const ALONE = { body: 150, stream: 5 } as const;
const MOST_RATIO: Readonly<Record<string, number>> = { small: 1.5, large: 1.3, stream: 1.3 };
const RECORDINGS = ['digest', 'full'] as const;
const VARIANTS = ['floor', 'floor again', ...RECORDINGS] as const;
type Variant = (typeof VARIANTS)[number];

export interface Sample {
  /** Microseconds of processor time per call. */
  readonly cpu: number;
  readonly perSecond: number;
  /** Median microseconds of a lone call; to the first byte where the answer is a stream. */
  readonly latency: number;
}

export interface Measured {
  readonly traffic: Traffic;
  readonly samples: ReadonlyMap<Variant, readonly Sample[]>;
  readonly comparisons: ReadonlyMap<Variant, Comparison>;
}

/** Processor time per call of our proxy against a bare one. */
export async function benchPassthrough(): Promise<BenchReport> {
  const measured: Measured[] = [];
  for (const traffic of TRAFFIC) measured.push(await measureTraffic(traffic));
  return {
    title: 'Passthrough',
    method:
      `Processor time of the whole proxy process per call (all threads, until it is at rest again) as a ratio to a bare proxy of \`node:http\` and undici's \`dispatch\`. ` +
      `${ROUNDS} interleaved rounds of ${CONCURRENCY} kept-alive connections; load, upstream and every proxy are processes of their own, and every proxy has served ${TRAFFIC.map(({ warmUp }) => warmUp.toLocaleString('en')).join(', ')} calls before (2 KB, 80 KB, stream). A ratio is void when two processes of the bare proxy differ by more than 5 %. ` +
      'Each figure is the median, then the middle half and the extremes of the rounds. Latency is that of calls made one after the other; for the stream to its first byte.',
    findings: measured.flatMap(findingsOf),
    table: [
      ['traffic', 'proxy', 'CPU µs per call', 'ratio to the floor', 'calls/s', 'p50 latency µs', 'added µs'],
      ...measured.flatMap(rowsOf),
    ],
  };
}

/** All proxies under one kind of traffic. */
export async function measureTraffic(traffic: Traffic): Promise<Measured> {
  const upstream = await startServer('./upstream.ts', [traffic.id]);
  const load = startScript('./load.ts');
  const subjects = new Map<Variant, Subject>();
  try {
    for (const variant of VARIANTS) subjects.set(variant, await startVariant(variant, upstream.url));
    for (const subject of subjects.values())
      await send(load, subject, { traffic: traffic.id, count: traffic.warmUp, concurrency: CONCURRENCY });
    const samples = await interleave(VARIANTS, ROUNDS, async (variant) => await measure(load, subjectOf(subjects, variant), traffic));
    return { traffic, samples, comparisons: new Map(RECORDINGS.map((recording) => [recording, comparison(samples, recording)])) };
  } finally {
    for (const { child } of [...subjects.values(), upstream]) await end(child);
    await end(load);
  }
}

async function startVariant(variant: Variant, upstream: string): Promise<Subject> {
  if (variant === 'floor' || variant === 'floor again') return await startServer('./floor-proxy.ts', [upstream]);
  return await startGateway({
    home: scratchFolder(),
    config: `[recording]\ndefault = "${variant}"\n`,
    env: { ABP_ENGINE_CLAUDE_URL: upstream },
  });
}

async function measure(load: ChildProcess, subject: Subject, traffic: Traffic): Promise<Sample> {
  const { pid } = subject;
  await quiet(pid);
  const before = cpuMicros(pid);
  const busy = await send(load, subject, { traffic: traffic.id, count: traffic.count, concurrency: CONCURRENCY });
  await quiet(pid);
  const cpu = (cpuMicros(pid) - before) / traffic.count;
  const streamed = !Buffer.isBuffer(traffic.answer);
  const alone = await send(load, subject, { traffic: traffic.id, count: streamed ? ALONE.stream : ALONE.body, concurrency: 1 });
  return { cpu, perSecond: traffic.count / busy.seconds, latency: streamed ? alone.firstByte : alone.lastByte };
}

/** One burst of calls at one proxy. */
export async function send(load: ChildProcess, subject: Subject, order: Omit<Order, 'url'>): Promise<Burst> {
  const reply = answer<Burst>(load, BURST_MS);
  load.send({ url: subject.url, ...order } satisfies Order);
  return await reply;
}

function subjectOf(subjects: ReadonlyMap<Variant, Subject>, variant: Variant): Subject {
  const subject = subjects.get(variant);
  if (subject === undefined) throw new Error(`${variant} was not started`);
  return subject;
}

function comparison(samples: ReadonlyMap<Variant, readonly Sample[]>, variant: Variant): Comparison {
  const cpu = (one: Variant): number[] => (samples.get(one) ?? []).map((sample) => sample.cpu);
  return compare({ floor: cpu('floor'), floorAgain: cpu('floor again'), ours: cpu(variant) });
}

function findingsOf({ traffic, comparisons }: Measured): Finding[] {
  return [...comparisons].map(([recording, { ratio, floorRatio, valid }]) => {
    const most = MOST_RATIO[traffic.id];
    return {
      what: `${traffic.label}, recording ${recording}: CPU ratio (floor against itself ${floorRatio.toFixed(3)})`,
      figure: formatSpread(ratio, 2),
      target: most === undefined ? '–' : `≤ ${most}`,
      verdict: judge(ratio.median, most, valid),
    };
  });
}

function rowsOf({ traffic, samples, comparisons }: Measured): string[][] {
  const median = (variant: Variant, of: (sample: Sample) => number): number => spread((samples.get(variant) ?? []).map(of)).median;
  return VARIANTS.map((variant) => {
    const ratio = comparisons.get(variant)?.ratio;
    const latency = median(variant, (sample) => sample.latency);
    return [
      traffic.label,
      variant.startsWith('floor') ? variant : `abp, recording ${variant}`,
      formatSpread(spread((samples.get(variant) ?? []).map((sample) => sample.cpu)), 0),
      ratio === undefined ? '–' : ratio.median.toFixed(2),
      median(variant, (sample) => sample.perSecond).toFixed(0),
      latency.toFixed(0),
      ratio === undefined ? '–' : (latency - median('floor', (sample) => sample.latency)).toFixed(0),
    ];
  });
}
