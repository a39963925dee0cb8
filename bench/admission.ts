import { Admission, type Check, EngineDoor } from '../src/calls/admission.ts';
import { Account, Page } from '../src/calls/budgets/account.ts';
import type { Budget } from '../src/calls/budgets/budget.ts';
import { Ledger } from '../src/calls/budgets/ledger.ts';
import { windowAt } from '../src/calls/budgets/period.ts';
import { loadPrices } from '../src/calls/budgets/prices.ts';
import type { Call, CallEnding } from '../src/calls/call.ts';
import { rateCheck } from '../src/calls/limits/rate-check.ts';
import { newRunId } from '../src/contract/run-id.ts';
import { type BenchReport, judge, spread } from './harness.ts';

const MOST_US = 5;
const ITERATIONS = 20_000;
const SAMPLES = 21;
const MUCH = 1e15;

const LIMITS = { requests_per_minute: 1e9, tokens_per_minute: 1e12, concurrency: 1000 };
const HELD = [{ id: 'key_1', name: 'This caller', limits: LIMITS }];
const SUBJECTS: readonly Budget['on'][] = [
  { kind: 'key', id: 'key_1' },
  { kind: 'engine', id: 'claude' },
  { kind: 'tag', id: 'nightly' },
];

const CALL: Call = {
  runId: newRunId(),
  way: 'relay',
  owner: { keyId: 'key_1', parent: null, tags: ['nightly', 'team:blue'] },
  engine: 'claude',
  model: 'claude-sonnet-4-5',
  dialect: 'claude',
  mode: 'passthrough',
  bound: { input: 1200, output: 4096 },
};

const ENDING: CallEnding = {
  status: 'completed',
  usage: {
    ...{ input_tokens: 1100, output_tokens: 300, cache_read_tokens: 0, cache_write_tokens: 0 },
    ...{ thinking_tokens: 0, web_search_requests: 0, estimated: false },
  },
  upstreamModel: 'claude-sonnet-4-5',
  nanoUsd: null,
};

/** Budgets of dollars, tokens and calls on each of the subjects. */
async function ledgerOf(subjects: readonly Budget['on'][]): Promise<Ledger> {
  const ledger = new Ledger({
    holderOf: () => undefined,
    onThreshold: () => undefined,
    onShort: () => undefined,
    nextPage: (_account, window) => new Page(window),
  });
  const accounts = subjects.map((on, at) => {
    const limits = { nanoUsd: MUCH, tokens: MUCH, requests: MUCH };
    return new Account({ id: `b${at}`, on, period: 'month', action: 'refuse', limits }, new Page(windowAt('month', Date.now())));
  });
  ledger.hold(accounts, await loadPrices());
  return ledger;
}

/** Microseconds of processor time to admit a call and to settle it. */
function sample(checks: readonly Check[]): number {
  const admission = new Admission(checks);
  const door = new EngineDoor({ transport: () => ({ abort: () => undefined, resume: () => undefined }) });
  const before = process.threadCpuUsage();
  for (let at = 0; at < ITERATIONS; at += 1) admission.admit(CALL, door).settle(ENDING);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / ITERATIONS;
}

/** What limits and budgets add to each call, on the way in and at its end. */
export async function benchAdmission(): Promise<BenchReport> {
  const limits = rateCheck(() => HELD);
  const variants: readonly (readonly [string, readonly Check[]])[] = [
    ['neither', []],
    ['no budget exists', [(await ledgerOf([])).check]],
    ['limits', [limits]],
    ['limits and a budget of the key', [(await ledgerOf(SUBJECTS.slice(0, 1))).check, limits]],
    ['limits and budgets of the key, the engine and a tag', [(await ledgerOf(SUBJECTS)).check, limits]],
  ];
  const samples = new Map(variants.map(([name]) => [name, [] as number[]]));
  for (let round = 0; round <= SAMPLES; round += 1) {
    for (const [name, checks] of variants) {
      const took = sample(checks);
      // The first round warms up.
      if (round > 0) samples.get(name)?.push(took);
    }
  }
  const median = (name: string): number => spread(samples.get(name) ?? []).median;
  const floor = median('neither');
  const [, , , ...held] = variants.map(([name]) => name);
  return {
    title: 'Admission',
    method: `Processor time to let a call in and to settle it, in one warm process; median of ${SAMPLES} interleaved samples of ${ITERATIONS.toLocaleString('en')} calls. Every budget holds dollars, tokens and calls.`,
    findings: held.map((name) => ({
      what: `added by ${name}`,
      figure: `${(median(name) - floor).toFixed(2)} µs`,
      target: `≤ ${MOST_US} µs`,
      verdict: judge(median(name) - floor, MOST_US),
    })),
    table: [['checks', 'µs per call'], ...variants.map(([name]) => [name, median(name).toFixed(2)])],
  };
}
