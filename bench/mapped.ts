import type { ChildProcess } from 'node:child_process';
import { type BenchReport, compare, type Finding, formatSpread, interleave, judge, type Spread, spread } from './harness.ts';
import { send } from './passthrough.ts';
import { answer, cpuSpent, end, type Subject, scratchFolder, startGateway, startScript, startServer } from './processes.ts';
import { type EngineDialect, trafficOf } from './traffic.ts';

const ROUNDS = 12;
const CONCURRENCY = 16;
const SWITCH_MS = 5000;
/** Two lengths: what a call costs apart from its chunks is in both and falls out of the difference. */
const SHORT = 200;
const LONG = 400;
/** A stream whose only interest is its beginning, and how many of them are called one after the other. */
const BRIEF = { chunks: 3, calls: 40 } as const;
const MOST_CHUNK_MICROS = 15;
const MOST_FIRST_BYTE_MICROS = 1000;
const LANES = ['floor', 'floor again', 'passthrough', 'openai-chat', 'gemini'] as const;
type Lane = (typeof LANES)[number];
const OURS = ['passthrough', 'openai-chat', 'gemini'] as const satisfies readonly Lane[];
const MAPPED = ['openai-chat', 'gemini'] as const satisfies readonly Lane[];

/** How a Claude caller reaches the engine of a lane, and what that engine speaks. */
const ENGINES: Readonly<Record<Lane, { readonly dialect: EngineDialect; readonly path: string }>> = {
  floor: { dialect: 'claude', path: '/v1/messages' },
  'floor again': { dialect: 'claude', path: '/v1/messages' },
  passthrough: { dialect: 'claude', path: '/e/claude/v1/messages' },
  'openai-chat': { dialect: 'openai-chat', path: '/e/openai:openai-chat/v1/messages' },
  gemini: { dialect: 'gemini', path: '/e/gemini/v1/messages' },
};

interface Sample {
  /** Microseconds of processor time per chunk. */
  readonly chunk: number;
  /** Microseconds of processor time per call of the shorter stream. */
  readonly call: number;
  /** Median microseconds to the first byte of a lone call. */
  readonly firstByte: number;
}

type Samples = ReadonlyMap<Lane, readonly Sample[]>;

interface Stage {
  readonly upstream: Subject;
  readonly load: ChildProcess;
  readonly subjects: Readonly<Record<Lane, Subject>>;
}

/** What translating a stream costs per chunk, and how much later its first byte comes. */
export async function benchMapped(): Promise<BenchReport> {
  const stage = await startStage();
  try {
    // Twice: what one lane compiles, another may make V8 compile anew.
    for (const lane of [...LANES, ...LANES]) await warmUp(stage, lane);
    return report(await interleave(LANES, ROUNDS, async (lane) => await measure(stage, lane)));
  } finally {
    for (const child of new Set([...Object.values(stage.subjects).map((subject) => subject.child), stage.load, stage.upstream.child]))
      await end(child);
  }
}

async function startStage(): Promise<Stage> {
  const upstream = await startServer('./upstream.ts', [`claude-${SHORT}`]);
  const engines = ['CLAUDE', 'OPENAI', 'GEMINI'].map((id) => [`ABP_ENGINE_${id}_URL`, upstream.url] as const);
  const env = { ...Object.fromEntries(engines), ABP_ENGINE_OPENAI_KEY: 'sk-bench', ABP_ENGINE_GEMINI_KEY: 'sk-bench' };
  const ours = await startGateway({ home: scratchFolder(), config: '[recording]\ndefault = "digest"\n', env });
  const floor = await startServer('./floor-proxy.ts', [upstream.url]);
  const again = await startServer('./floor-proxy.ts', [upstream.url]);
  const subjects = { floor, 'floor again': again, passthrough: ours, 'openai-chat': ours, gemini: ours };
  return { upstream, load: startScript('./load.ts'), subjects };
}

async function warmUp(stage: Stage, lane: Lane): Promise<void> {
  const traffic = await engineGives(stage, lane, SHORT);
  await send(stage.load, stage.subjects[lane], {
    traffic,
    count: trafficOf(traffic).warmUp,
    concurrency: CONCURRENCY,
    path: ENGINES[lane].path,
  });
}

async function measure(stage: Stage, lane: Lane): Promise<Sample> {
  const short = await cpuPerCall(stage, lane, SHORT);
  const long = await cpuPerCall(stage, lane, LONG);
  const traffic = await engineGives(stage, lane, BRIEF.chunks);
  const { firstByte } = await send(stage.load, stage.subjects[lane], {
    traffic,
    count: BRIEF.calls,
    concurrency: 1,
    path: ENGINES[lane].path,
  });
  return { chunk: (long - short) / (LONG - SHORT), call: short, firstByte };
}

async function cpuPerCall(stage: Stage, lane: Lane, chunks: number): Promise<number> {
  const subject = stage.subjects[lane];
  const traffic = await engineGives(stage, lane, chunks);
  const { count } = trafficOf(traffic);
  const order = { traffic, count, concurrency: CONCURRENCY, path: ENGINES[lane].path };
  const { cpu } = await cpuSpent(subject.pid, async () => await send(stage.load, subject, order));
  return cpu / count;
}

/** Has the one upstream answer as the engine of a lane. */
async function engineGives({ upstream }: Stage, lane: Lane, chunks: number): Promise<string> {
  const traffic = `${ENGINES[lane].dialect}-${chunks}`;
  const changed = answer<string>(upstream.child, SWITCH_MS);
  upstream.child.send(traffic);
  return await changed;
}

function report(samples: Samples): BenchReport {
  const of = (lane: Lane, value: (sample: Sample) => number): number[] => (samples.get(lane) ?? []).map(value);
  const { floorRatio, valid } = compare({
    floor: of('floor', chunkOf),
    floorAgain: of('floor again', chunkOf),
    ours: of('passthrough', chunkOf),
  });
  const added = (lane: Lane, value: (sample: Sample) => number, base: Lane): Spread => {
    const bases = of(base, value);
    return spread(of(lane, value).map((figure, round) => figure - (bases[round] ?? Number.NaN)));
  };
  return {
    title: 'Mapped streams',
    method:
      `A Claude caller on engines that speak Chat Completions and Gemini, and on Claude itself (passthrough). A chunk's cost is the difference of processor time between streams of ${SHORT} and of ${LONG} chunks, divided by ${LONG - SHORT}; what mapping adds is that less the same figure of our passthrough in the same round. ` +
      `${ROUNDS} interleaved rounds of ${CONCURRENCY} connections, all of our lanes in one process that records digests; the bare proxy's chunk against that of a second one was ${floorRatio.toFixed(3)}, and outside 0.95–1.05 the costs are void. ` +
      `The first byte is that of ${BRIEF.calls} calls one after the other per round (median), less that of the bare proxy.`,
    findings: [
      ...MAPPED.map((lane): Finding => {
        const cost = added(lane, chunkOf, 'passthrough');
        return {
          what: `claude → ${lane}: CPU added per chunk, µs`,
          figure: formatSpread(cost, 1),
          target: `≤ ${MOST_CHUNK_MICROS}`,
          verdict: judge(cost.median, MOST_CHUNK_MICROS, valid),
        };
      }),
      ...OURS.map((lane): Finding => {
        const late = added(lane, firstByteOf, 'floor');
        return {
          what: `${lane === 'passthrough' ? lane : `claude → ${lane}`}: first byte added, p50, µs`,
          figure: formatSpread(late, 0),
          target: `< ${MOST_FIRST_BYTE_MICROS}`,
          verdict: judge(late.median, MOST_FIRST_BYTE_MICROS),
        };
      }),
    ],
    table: [
      ['engine speaks', 'proxy', 'CPU µs per chunk', `CPU µs per call of ${SHORT} chunks`, 'p50 first byte µs'],
      ...LANES.map((lane) => [
        ENGINES[lane].dialect,
        lane.startsWith('floor') ? lane : 'abp',
        formatSpread(spread(of(lane, chunkOf)), 1),
        formatSpread(spread(of(lane, (sample) => sample.call)), 0),
        formatSpread(spread(of(lane, firstByteOf)), 0),
      ]),
    ],
  };
}

const chunkOf = (sample: Sample): number => sample.chunk;
const firstByteOf = (sample: Sample): number => sample.firstByte;
