import { crc32 } from 'node:zlib';
import { systemClock } from '../src/base/clock.ts';
import { EngineDoor } from '../src/calls/admission.ts';
import { affinityOf } from '../src/calls/balancing/affinity.ts';
import { Balancer } from '../src/calls/balancing/balancer.ts';
import type { Deployment } from '../src/calls/deployment.ts';
import { sim } from '../src/engines/sim/engine.ts';
import { transport } from '../src/engines/sim/transport.ts';
import { scanBody } from '../src/mapping/scan/scan.ts';
import { Load } from '../src/upstream/load.ts';
import { type BenchReport, judge } from './harness.ts';

const MOST_US = 2;
const ROUNDS = 7;
const ITERATIONS = 50_000;

function deployment(name: string): Deployment {
  const place = { name, weight: 1, salt: crc32(name), load: new Load(systemClock) };
  return { engine: sim, place, origin: '', basePath: '', auth: 'none', door: new EngineDoor({ transport }), silenceMs: 1 };
}

/** A request of an agent of about this size, and where its conversation stands. */
function request(bytes: number): { text: Buffer; scan: ReturnType<typeof scanBody> } {
  const turns = Array.from({ length: Math.ceil(bytes / 400) }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: [{ type: 'text', text: `${at} ${'words '.repeat(60)}` }],
  }));
  const text = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 100, system: 'You are an engineer. '.repeat(20), messages: turns }));
  return { text, scan: scanBody(text) };
}

/** Microseconds of processor time that a call takes, the best of some rounds. */
function measure(work: (at: number) => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.threadCpuUsage();
    for (let at = 0; at < ITERATIONS; at += 1) work(at);
    const { user, system } = process.threadCpuUsage(before);
    best = Math.min(best, (user + system) / ITERATIONS);
  }
  return best;
}

/** What it costs a call that its engine has several deployments. */
export async function benchBalancing(): Promise<BenchReport> {
  const balancer = new Balancer([deployment('a'), deployment('b'), deployment('c'), deployment('d')], systemClock);
  const sizes = [2048, 81_920].map((bytes) => {
    const { text, scan } = request(bytes);
    const us = measure(() => {
      const affinity = affinityOf({ owner: { parent: null }, session: undefined, text, scan });
      balancer.choose({ model: 'm', tried: [], affinity });
    });
    return { what: `one of four deployments for a request of ${bytes / 1024} KB`, us };
  });
  const many = measure((at) => void balancer.choose({ model: 'm', tried: [], affinity: { key: at % 60_000, lifetimeMs: 300_000 } }));
  return {
    title: 'Balancing',
    method: `Processor time to find a conversation and its deployment, in one warm process; the best of ${ROUNDS} samples of ${ITERATIONS.toLocaleString('en')} calls.`,
    findings: [...sizes, { what: 'the same for 60,000 known conversations, without the request', us: many }].map(({ what, us }) => ({
      what,
      figure: `${us.toFixed(2)} µs`,
      target: `≤ ${MOST_US} µs`,
      verdict: judge(us, MOST_US),
    })),
    table: [],
  };
}
