import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchReport, type Finding, judge } from './harness.ts';
import type { Order } from './load.ts';
import { send } from './passthrough.ts';
import { cpuMicros, end, peakMb, residentMb, type Subject, scratchFolder, startGateway, startScript, startServer } from './processes.ts';
import { SLOW } from './traffic.ts';

const MOST_MB = 400;
/** A proxy has two connections per stream; the rest is its own. */
const FILES_NEEDED = 2 * SLOW.count + 200;
const SAMPLE_MS = 250;
/** Callers that arrive in a second. The last ones come long before the first ones leave. */
const ARRIVALS = 500;
const VARIANTS = ['floor', 'abp', 'abp, all callers at once'] as const;
type Variant = (typeof VARIANTS)[number];

interface Crowd {
  readonly variant: Variant;
  readonly startMb: number;
  readonly peakMb: number;
  /** Halfway through, when every stream is open and every body has been sent. */
  readonly steadyMb: number;
  readonly cpuSeconds: number;
  readonly seconds: number;
  /** Streams that were open at the same moment. */
  readonly together: number;
}

/** Memory of one process that serves many slow streams at once. */
export async function benchStreams(): Promise<BenchReport> {
  const files = openFilesLimit();
  if (files < FILES_NEEDED) return notRun(`${FILES_NEEDED} open files are needed and the limit is ${files}; raise it with ulimit -n`);
  const upstream = await startServer('./upstream.ts', [SLOW.id]);
  const load = startScript('./load.ts');
  try {
    const crowds: Crowd[] = [];
    for (const variant of VARIANTS) crowds.push(await crowd(variant, upstream.url, load));
    return report(crowds);
  } finally {
    await end(load);
    await end(upstream.child);
  }
}

async function crowd(variant: Variant, upstream: string, load: ChildProcess): Promise<Crowd> {
  const subject = await startVariant(variant, upstream);
  const { pid, child } = subject;
  try {
    const startMb = residentMb(pid);
    const before = cpuMicros(pid);
    const samples: number[] = [];
    const watching = new AbortController();
    const watch = sampleMemory(pid, samples, watching.signal);
    const { seconds, together, bytes } = await send(load, subject, orderFor(variant));
    watching.abort();
    await watch;
    assertWhole(bytes);
    const steadyMb = samples[Math.floor(samples.length / 2)] ?? Number.NaN;
    return { variant, startMb, peakMb: peakMb(pid), steadyMb, cpuSeconds: (cpuMicros(pid) - before) / 1e6, seconds, together };
  } finally {
    await end(child);
  }
}

function orderFor(variant: Variant): Omit<Order, 'url'> {
  const order = { traffic: SLOW.id, count: SLOW.count, concurrency: SLOW.count };
  return variant === 'abp, all callers at once' ? order : { ...order, arrivals: ARRIVALS };
}

async function startVariant(variant: Variant, upstream: string): Promise<Subject> {
  if (variant === 'floor') return await startServer('./floor-proxy.ts', [upstream]);
  return await startGateway({ home: scratchFolder(), config: '', env: { ABP_ENGINE_CLAUDE_URL: upstream } });
}

async function sampleMemory(pid: number, samples: number[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    samples.push(residentMb(pid));
    await sleep(SAMPLE_MS);
  }
}

/** Every call answered 200, or the load would have failed; every byte must have come too. */
function assertWhole(bytes: number): void {
  const chunks = Buffer.isBuffer(SLOW.answer) ? [SLOW.answer] : SLOW.answer;
  const wanted = SLOW.count * chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (bytes !== wanted) throw new Error(`${bytes} bytes came of ${wanted}`);
}

/** Node raises its own soft limit to the hard one, and its children inherit it. */
function openFilesLimit(): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

const TITLE = 'Slow streams';
const WHAT = `peak resident memory with ${SLOW.count} streams, MB`;

function report(crowds: readonly Crowd[]): BenchReport {
  return {
    title: TITLE,
    method:
      `${SLOW.count} callers, ${ARRIVALS} arriving in a second, each with a request of 80 KB and an answer of one chunk a second for 15 s, through one process with the default settings; all calls complete with every byte. ` +
      'Memory is the resident set in MB of 10⁶ bytes; the peak is the one the kernel keeps, steady is halfway through. Processor time is that of all threads.',
    findings: crowds.flatMap(({ variant, peakMb: peak, together }): Finding[] => {
      if (variant === 'floor') return [];
      const most = variant === 'abp' ? MOST_MB : undefined;
      const target = most === undefined ? '–' : `< ${most}`;
      const what = variant === 'abp' ? WHAT : `${WHAT}, all callers at once`;
      return [{ what, figure: peak.toFixed(0), target, verdict: judge(peak, most, together === SLOW.count) }];
    }),
    table: [
      ['proxy', 'at start, MB', 'peak, MB', 'steady, MB', 'CPU, s', 'time, s', 'open at the same moment'],
      ...crowds.map(({ variant, startMb, peakMb: peak, steadyMb, cpuSeconds, seconds, together }) => [
        variant,
        ...[startMb, peak, steadyMb].map((mb) => mb.toFixed(0)),
        ...[cpuSeconds, seconds].map((time) => time.toFixed(1)),
        String(together),
      ]),
    ],
  };
}

function notRun(reason: string): BenchReport {
  process.stderr.write(`streams: not run: ${reason}\n`);
  return {
    title: TITLE,
    method: `*Not run*: ${reason}.`,
    findings: [{ what: WHAT, figure: '–', target: `< ${MOST_MB}`, verdict: 'not run' }],
    table: [],
  };
}
