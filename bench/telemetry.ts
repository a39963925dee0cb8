import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { newRunId } from '../src/contract/run-id.ts';
import { CallCounts } from '../src/gateway/telemetry/call-counts.ts';
import { Requests } from '../src/gateway/telemetry/requests.ts';
import { RunWatch } from '../src/gateway/telemetry/run-watch.ts';
import { TraceContexts } from '../src/gateway/telemetry/trace-contexts.ts';
import type { CloseFact, OpenFact } from '../src/receipts/journal/facts.ts';
import { closeFact, openFact } from '../test/support/facts.ts';
import { type BenchReport, judge, spread } from './harness.ts';

const MOST_US = 2;
const ITERATIONS = 20_000;
const SAMPLES = 21;

const OPEN: OpenFact = openFact({});
const CLOSE: CloseFact = closeFact({});
const REQUEST = { url: '/v1/messages', method: 'POST', headers: {} } as unknown as IncomingMessage; // the members that are read

/** One call as the front door and the journal tell of it; nobody hears, or some do. */
interface Ears {
  readonly watch?: RunWatch;
  readonly requests?: Requests;
}

function once({ watch, requests }: Ears): void {
  const run = newRunId();
  const response = Object.assign(new EventEmitter(), { statusCode: 200 }) as unknown as ServerResponse; // the members that are read
  const [open, close] = [
    { ...OPEN, run },
    { ...CLOSE, run },
  ];
  requests?.arrived(run, REQUEST, response);
  watch?.hear(open);
  watch?.hear(close);
  response.emit('close');
}

/** Microseconds of processor time for one call. */
function sample(ears: Ears): number {
  const before = process.threadCpuUsage();
  for (let at = 0; at < ITERATIONS; at += 1) once(ears);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / ITERATIONS;
}

function earsOf(write: ((lines: string) => void) | undefined, traces: boolean): Ears {
  const watch = new RunWatch((error) => {
    throw error;
  });
  const requests = new Requests(write, () => undefined);
  if (traces) watch.add(new TraceContexts(() => true));
  watch.add(new CallCounts(50));
  watch.add(requests);
  return { watch, requests };
}

/** What metrics, the request log and traces add to each call while it is made. */
export async function benchTelemetry(): Promise<BenchReport> {
  const variants: readonly (readonly [string, Ears])[] = [
    ['neither', {}],
    ['metrics', earsOf(undefined, false)],
    ['metrics and the request log', earsOf(() => undefined, false)],
    ['metrics and places in traces', earsOf(undefined, true)],
  ];
  const samples = new Map(variants.map(([name]) => [name, [] as number[]]));
  for (let round = 0; round <= SAMPLES; round += 1) {
    for (const [name, ears] of variants) {
      const took = sample(ears);
      // The first round warms up.
      if (round > 0) samples.get(name)?.push(took);
    }
  }
  const median = (name: string): number => spread(samples.get(name) ?? []).median;
  const added = (name: string): number => median(name) - median('neither');
  return {
    title: 'Telemetry',
    method: `Processor time per call in one warm process, median of ${SAMPLES} samples of ${ITERATIONS} calls; a call that nobody hears of is taken off. The lines of the request log are written inside the samples.`,
    findings: [
      {
        what: 'metrics, per call',
        figure: `${added('metrics').toFixed(2)} µs`,
        target: `≤ ${MOST_US} µs`,
        verdict: judge(added('metrics'), MOST_US),
      },
    ],
    table: [['variant', 'µs per call', 'added'], ...variants.map(([name]) => [name, median(name).toFixed(2), added(name).toFixed(2)])],
  };
}
