import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchReport, formatSpread, interleave, judge, spread } from './harness.ts';
import { send } from './passthrough.ts';
import { cpuMicros, end, quiet, type Subject, scratchFolder, startGateway, startScript, startServer } from './processes.ts';
import { trafficOf } from './traffic.ts';

const MOST_US = 5;
const ROUNDS = 16;
const CONCURRENCY = 16;
const WARM_UP = 30_000;
const CALLS = 3000;
const VARIANTS = ['a key', 'a key again', 'a key with limits and a budget'] as const;
type Variant = (typeof VARIANTS)[number];

interface Held extends Subject {
  readonly headers: readonly string[];
}

/** A server whose caller has a key, in the last variant one that is held. */
async function start(variant: Variant, upstream: string): Promise<Held> {
  const home = scratchFolder();
  const isHeld = variant === 'a key with limits and a budget';
  const limits = isHeld ? '[engines.claude.limits]\nconcurrency = 1000\n' : '';
  const config = `[recording]\ndefault = "digest"\n[auth]\nlocal = false\n[engines.claude]\nurl = "${upstream}"\nkey = "k"\n${limits}`;
  const subject = await startGateway({ home, config, env: {} });
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const ask = async (path: string, body: object): Promise<{ id: string; secret: string }> => {
    const headers = { 'content-type': 'application/json', 'x-abp-key': token };
    const answer = await fetch(`${subject.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as { id: string; secret: string }; // our own answer
  };
  const held = { limits: { requests_per_minute: 1e9, tokens_per_minute: 1e12, concurrency: 1000 } };
  const { id, secret } = await ask('/v1/keys', { name: 'bench', ...(isHeld ? held : {}) });
  const much = { limit_nano_usd: 1e15, limit_tokens: 1e15, limit_requests: 1e12 };
  if (isHeld) await ask('/v1/budgets', { on: { key: id }, period: 'month', ...much });
  return { ...subject, headers: ['x-abp-key', secret] };
}

async function burst(load: ChildProcess, subject: Held, count: number): Promise<void> {
  await send(load, subject, { traffic: 'small', count, concurrency: CONCURRENCY, headers: subject.headers });
}

/** Microseconds of processor time per call, of all threads until they are at rest. */
async function sample(load: ChildProcess, subject: Held): Promise<number> {
  await quiet(subject.pid);
  const before = cpuMicros(subject.pid);
  await burst(load, subject, CALLS);
  await quiet(subject.pid);
  return (cpuMicros(subject.pid) - before) / CALLS;
}

/** What limits and a budget add to a whole call, from its first byte to its receipt. */
export async function benchHeld(): Promise<BenchReport> {
  const upstream = await startServer('./upstream.ts', [trafficOf('small').id]);
  const load = startScript('./load.ts');
  const subjects = new Map<Variant, Held>();
  try {
    for (const variant of VARIANTS) subjects.set(variant, await start(variant, upstream.url));
    for (const subject of subjects.values()) await burst(load, subject, WARM_UP);
    const subjectOf = (variant: Variant): Held => subjects.get(variant) as Held; // all were started above
    const samples = await interleave(VARIANTS, ROUNDS, (variant) => sample(load, subjectOf(variant)));
    const of = (variant: Variant): readonly number[] => samples.get(variant) ?? [];
    const added = (variant: Variant) => spread(of(variant).map((cpu, at) => cpu - (of('a key')[at] ?? 0)));
    const [again, held] = [added('a key again'), added('a key with limits and a budget')];
    const isQuiet = Math.abs(again.median) <= MOST_US / 2;
    return {
      title: 'Held calls',
      method:
        `Passthrough, 2 KB request, 4 KB answer: processor time of the whole process per call (all threads, receipts included) with a key that has limits (calls, tokens, concurrency) and a budget of dollars, tokens and calls, on an engine with a limit, less that with a key alone. ` +
        `${ROUNDS} interleaved rounds of ${CALLS.toLocaleString('en')} calls on ${CONCURRENCY} connections, after ${WARM_UP.toLocaleString('en')} calls; the median of the rounds' differences, the middle half and the extremes. Void when two servers without either differ by more than ${MOST_US / 2} µs: Admission measures the same work alone.`,
      findings: [
        {
          what: `added by limits and a budget (a key against itself ${again.median.toFixed(1)} µs)`,
          figure: `${formatSpread(held, 1)} µs`,
          target: `≤ ${MOST_US} µs`,
          verdict: judge(held.median, MOST_US, isQuiet),
        },
      ],
      table: [['server', 'CPU µs per call'], ...VARIANTS.map((variant) => [variant, formatSpread(spread(of(variant)), 1)])],
    };
  } finally {
    for (const { child } of [...subjects.values(), upstream]) await end(child);
    await end(load);
  }
}
