import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BenchReport, compare, formatSpread, interleave, type Spread, spread } from './harness.ts';
import type { Order } from './load.ts';
import { send } from './passthrough.ts';
import { installedPeer, type Peer } from './peer-install.ts';
import { cpuSpent, end, type Subject, scratchFolder, startGateway, startScript, startServer } from './processes.ts';
import { trafficOf } from './traffic.ts';

const PACKAGE = '@portkey-ai/gateway';
/** As many as the slowest does in half a minute. */
const WARM_UP = 20_000;
const ROUNDS = 12;
/** Calls of one sample: half a second at least, because a shorter one says more about the machine than about the proxy. */
const CALLS = 9000;
const CONCURRENCY = 16;
const LEAST_RATIO = 6;
const TITLE = 'Peers';
const WHAT = `calls/s of abp as a multiple of those of ${PACKAGE}`;
const VARIANTS = ['floor', 'floor again', 'abp', 'portkey'] as const;
type Variant = (typeof VARIANTS)[number];
/** A sample of a slow proxy needs fewer calls to last as long. */
const SHARE: Readonly<Record<Variant, number>> = { floor: 1, 'floor again': 1, abp: 1, portkey: 0.25 };

interface Sample {
  readonly perSecond: number;
  /** Microseconds of processor time per call. */
  readonly cpu: number;
}

type Samples = ReadonlyMap<Variant, readonly Sample[]>;

/** Throughput against another gateway in the same run. */
export async function benchPeers(): Promise<BenchReport> {
  try {
    const peer = await installedPeer(PACKAGE);
    return report(peer, await measureAll(peer));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`peers: not run: ${reason}\n`);
    return {
      title: TITLE,
      method: `*Not run*: ${reason}.`,
      findings: [{ what: WHAT, figure: '–', target: `≥ ${LEAST_RATIO}`, verdict: 'not run' }],
      table: [],
    };
  }
}

async function measureAll(peer: Peer): Promise<Samples> {
  const upstream = await startServer('./upstream.ts', ['small']);
  const load = startScript('./load.ts');
  const subjects = new Map<Variant, Subject>();
  try {
    for (const variant of VARIANTS) subjects.set(variant, await startVariant(variant, upstream.url, peer));
    const sample = async (variant: Variant, calls: number): Promise<Sample> => {
      const subject = subjects.get(variant);
      if (subject === undefined) throw new Error(`${variant} was not started`);
      return await measure(load, subject, orderFor(variant, upstream.url, calls));
    };
    for (const variant of VARIANTS) await sample(variant, WARM_UP);
    return await interleave(VARIANTS, ROUNDS, async (variant) => await sample(variant, CALLS));
  } finally {
    for (const { child } of [...subjects.values(), upstream]) await end(child);
    await end(load);
  }
}

async function startVariant(variant: Variant, upstream: string, peer: Peer): Promise<Subject> {
  if (variant === 'abp')
    return await startGateway({
      home: scratchFolder(),
      config: '[recording]\ndefault = "digest"\n',
      env: { ABP_ENGINE_CLAUDE_URL: upstream },
    });
  if (variant !== 'portkey') return await startServer('./floor-proxy.ts', [upstream]);
  const entry = pathToFileURL(join(peer.folder, 'build', 'start-server.js')).href;
  // As its makers run it in production: without the web page and its log stream.
  return await startServer(entry, ['--headless'], {
    execArgv: ['--import', new URL('./loopback-only.ts', import.meta.url).href],
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

function orderFor(variant: Variant, upstream: string, calls: number): Omit<Order, 'url'> {
  const order = { traffic: 'small', count: Math.ceil(calls * SHARE[variant]), concurrency: CONCURRENCY };
  if (variant !== 'portkey') return order;
  return { ...order, headers: ['x-portkey-provider', 'anthropic', 'x-portkey-custom-host', `${upstream}/v1`] };
}

async function measure(load: ChildProcess, subject: Subject, order: Omit<Order, 'url'>): Promise<Sample> {
  const { cpu, result } = await cpuSpent(subject.pid, async () => await send(load, subject, order));
  return { perSecond: order.count / result.seconds, cpu: cpu / order.count };
}

function report({ version }: Peer, samples: Samples): BenchReport {
  const of = (variant: Variant, value: (sample: Sample) => number): number[] => (samples.get(variant) ?? []).map(value);
  const rate = (variant: Variant): number[] => of(variant, (sample) => sample.perSecond);
  const { floorRatio, valid } = compare({ floor: rate('floor'), floorAgain: rate('floor again'), ours: rate('abp') });
  const multiple = timesOf(rate('abp'), rate('portkey'));
  const name = (variant: Variant): string => (variant === 'portkey' ? `${PACKAGE} ${version}` : variant);
  return {
    title: TITLE,
    method:
      `${trafficOf('small').label}, a Claude caller on a Claude engine, ${CONCURRENCY} kept-alive connections, ${ROUNDS} interleaved rounds; load, upstream and every proxy are processes of their own. ` +
      `${PACKAGE} ${version} from npm runs on the same Node in production mode; ours runs with its defaults, so it journals and writes a receipt for every call. ` +
      `A fast proxy shares its cores with the load and the upstream, which holds it back, a slow one hardly. The multiple is that of the same round. The floor against itself was ${floorRatio.toFixed(3)}; outside 0.95–1.05 the result is void.`,
    findings: [{ what: WHAT, figure: formatSpread(multiple, 2), target: `≥ ${LEAST_RATIO}`, verdict: verdictOf(multiple, valid) }],
    table: [
      ['proxy', 'calls/s', 'CPU µs per call'],
      ...VARIANTS.map((variant) => [
        name(variant),
        formatSpread(spread(rate(variant)), 0),
        formatSpread(spread(of(variant, (sample) => sample.cpu)), 0),
      ]),
    ],
  };
}

function timesOf(ours: readonly number[], theirs: readonly number[]): Spread {
  return spread(ours.map((figure, round) => figure / (theirs[round] ?? Number.NaN)));
}

function verdictOf({ median }: Spread, valid: boolean): 'met' | 'not met' | 'void' {
  if (!valid) return 'void';
  return median >= LEAST_RATIO ? 'met' : 'not met';
}
