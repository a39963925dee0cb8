import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchReport, type Finding, formatSpread, interleave, judge, type Spread, spread } from './harness.ts';
import { send } from './passthrough.ts';
import { cpuMicros, end, quiet, type Subject, scratchFolder, startGateway, startScript, startServer, threadMicros } from './processes.ts';
import { trafficOf } from './traffic.ts';

const MOST_US = 5;
const ROUNDS = 60;
const CONCURRENCY = 16;
const WARM_UP = 15_000;
const CALLS = 1000;
const VARIANTS = ['a key', 'a key again', 'a key with limits and a budget'] as const;
type Variant = (typeof VARIANTS)[number];

/** A caller of the one server, and the path of its engine. */
interface Caller {
  readonly headers: readonly string[];
  readonly path: string;
}

/** One server for all callers: two processes of the same program differ by more than what is measured. */
async function startOne(upstream: string): Promise<{ readonly subject: Subject; readonly callers: ReadonlyMap<Variant, Caller> }> {
  const home = scratchFolder();
  const engine = `url = "${upstream}"\nkey = "k"\n`;
  const config = `[recording]\ndefault = "digest"\n[auth]\nlocal = false\n[engines.claude]\n${engine}limits = { concurrency = 1000 }\n[engines.plain]\nbase = "claude"\n${engine}`;
  const subject = await startGateway({ home, config, env: {} });
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const ask = async (path: string, body: object): Promise<{ id: string; secret: string }> => {
    const headers = { 'content-type': 'application/json', 'x-abp-key': token };
    const answer = await fetch(`${subject.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as { id: string; secret: string }; // our own answer
  };
  const limits = { requests_per_minute: 1e9, tokens_per_minute: 1e12, concurrency: 1000 };
  const callers = new Map<Variant, Caller>();
  for (const variant of VARIANTS) {
    const isHeld = variant === 'a key with limits and a budget';
    const { id, secret } = await ask('/v1/keys', { name: 'bench', ...(isHeld ? { limits } : {}) });
    const much = { limit_nano_usd: 1e15, limit_tokens: 1e15, limit_requests: 1e12 };
    if (isHeld) await ask('/v1/budgets', { on: { key: id }, period: 'month', ...much });
    callers.set(variant, { headers: ['x-abp-key', secret], path: `/e/${isHeld ? 'claude' : 'plain'}/v1/messages` });
  }
  return { subject, callers };
}

interface Sample {
  /** Microseconds of processor time per call: of the thread that serves, and of all threads. */
  readonly serving: number;
  readonly whole: number;
}

/** What limits and a budget add to a whole call, from its first byte to its receipt. */
export async function benchHeld(): Promise<BenchReport> {
  const upstream = await startServer('./upstream.ts', [trafficOf('small').id]);
  const load = startScript('./load.ts');
  const { subject, callers } = await startOne(upstream.url);
  const burst = async (variant: Variant, count: number): Promise<void> => {
    await send(load, subject, { traffic: 'small', count, concurrency: CONCURRENCY, ...callers.get(variant) });
  };
  const sample = async (variant: Variant): Promise<Sample> => {
    await quiet(subject.pid);
    const [serving, whole] = [threadMicros(subject.pid), cpuMicros(subject.pid)];
    await burst(variant, CALLS);
    await quiet(subject.pid);
    return { serving: (threadMicros(subject.pid) - serving) / CALLS, whole: (cpuMicros(subject.pid) - whole) / CALLS };
  };
  try {
    for (const variant of VARIANTS) await burst(variant, WARM_UP);
    return report(await interleave(VARIANTS, ROUNDS, sample));
  } finally {
    for (const { child } of [subject, upstream]) await end(child);
    await end(load);
  }
}

function report(samples: ReadonlyMap<Variant, readonly Sample[]>): BenchReport {
  const of = (variant: Variant, name: keyof Sample): number[] => (samples.get(variant) ?? []).map((one) => one[name]);
  /** Against the mean of both plain keys in the same round. */
  const added = (name: keyof Sample): Spread => {
    const [one, other] = [of('a key', name), of('a key again', name)];
    return spread(of('a key with limits and a budget', name).map((cpu, at) => cpu - ((one[at] ?? 0) + (other[at] ?? 0)) / 2));
  };
  const again = (name: keyof Sample): number => {
    const one = of('a key', name);
    return spread(of('a key again', name).map((cpu, at) => cpu - (one[at] ?? 0))).median;
  };
  const finding = (what: string, name: keyof Sample): Finding => ({
    what: `added by limits and a budget, ${what} (a key against itself ${again(name).toFixed(1)} µs)`,
    figure: `${formatSpread(added(name), 1)} µs`,
    target: `≤ ${MOST_US} µs`,
    verdict: judge(added(name).median, MOST_US, Math.abs(again(name)) <= MOST_US / 2),
  });
  return {
    title: 'Held calls',
    method:
      `Passthrough, 2 KB request, 4 KB answer, one server with three keys: processor time per call with a key that has limits (calls, tokens, concurrency) and a budget of dollars, tokens and calls, on an engine with a limit, less that with a key alone. ` +
      `${ROUNDS} interleaved rounds of ${CALLS.toLocaleString('en')} calls on ${CONCURRENCY} connections, after ${WARM_UP.toLocaleString('en')} calls each; the median of the rounds' differences, the middle half and the extremes. Linux counts the time of threads, so that others on the machine add little. Void when two keys without either differ by more than ${MOST_US / 2} µs: Admission measures the same work alone.`,
    findings: [finding('the thread that serves', 'serving'), finding('all threads, receipts included', 'whole')],
    table: [
      ['caller', 'serving thread, CPU µs per call', 'all threads'],
      ...VARIANTS.map((variant) => [
        variant,
        formatSpread(spread(of(variant, 'serving')), 1),
        formatSpread(spread(of(variant, 'whole')), 1),
      ]),
    ],
  };
}
