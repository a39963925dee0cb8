import type { CallCost } from './fleet.ts';

export interface FleetAsk {
  readonly callsPerSecond: number;
  readonly answerSeconds: number;
  readonly streamKb: number;
  readonly residentMb: number;
}

export interface Fleet {
  readonly cost: CallCost;
  /** Calls a second of one process with an acceptable wait. */
  readonly processCarries: number;
  readonly processes: number;
  /** Cores that the processes keep busy, the keeper's included. */
  readonly cores: number;
  readonly waitMs: { readonly p50: number; readonly p99: number };
  readonly databaseCores: number;
  readonly walMbPerSecond: number;
  readonly rowsTbPerDay: number;
  readonly streamsPerProcess: number;
  readonly memoryMb: number;
}

const MOST_WAIT_MS = 5;
/** Of the 16,384 connections that a process takes by default, with room for those that come and go. */
const STREAMS_PER_PROCESS = 10_000;
/** Calls that are simulated on each process that is looked at. */
const CALLS = 3000;
const PROCESSES_LOOKED_AT = 40;
/** A database that writes more than half of the time has no room for checkpoints and readers. */
const DATABASE_SHARE = 0.5;

/** The smallest fleet whose calls do not wait. */
export function simulateFleet(cost: CallCost, ask: FleetAsk): Fleet {
  const streams = ask.callsPerSecond * ask.answerSeconds;
  const fewest = Math.max(Math.ceil((ask.callsPerSecond * cost.main) / 1e6), Math.ceil(streams / STREAMS_PER_PROCESS));
  let processes = fewest;
  let waits = waitsOf(cost, ask, processes);
  while (waits.p99 > MOST_WAIT_MS) {
    processes = Math.ceil(processes * 1.03);
    waits = waitsOf(cost, ask, processes);
  }
  const streamsPerProcess = streams / processes;
  return {
    cost,
    processCarries: ask.callsPerSecond / processes,
    processes,
    cores: (ask.callsPerSecond * cost.process) / 1e6,
    waitMs: waits,
    databaseCores: (ask.callsPerSecond * cost.database) / 1e6 / DATABASE_SHARE,
    walMbPerSecond: (ask.callsPerSecond * cost.walBytes) / 1e6,
    rowsTbPerDay: (ask.callsPerSecond * cost.rowBytes * 86_400) / 1e12,
    streamsPerProcess,
    memoryMb: ask.residentMb + (streamsPerProcess * ask.streamKb) / 1000,
  };
}

/** How long the pieces of calls wait for the serving thread: a call that is not streamed is one, and each chunk of a stream is one. Processes get connections by chance, so some have more to do than others. */
function waitsOf({ main, pieces }: CallCost, { callsPerSecond, answerSeconds }: FleetAsk, processes: number): { p50: number; p99: number } {
  const random = generator(processes);
  const waits: number[] = [];
  const connections = callsPerSecond * answerSeconds;
  for (let process = 0; process < Math.min(processes, PROCESSES_LOOKED_AT); process += 1) {
    const mean = connections / processes;
    const held = Math.max(1, mean + Math.sqrt(mean) * normal(random));
    const perMs = (callsPerSecond * pieces * (held / connections)) / 1000;
    let [clock, free] = [0, 0];
    for (let call = 0; call < CALLS; call += 1) {
      clock += -Math.log(1 - random()) / perMs;
      waits.push(Math.max(0, free - clock));
      free = Math.max(free, clock) + main / pieces / 1000;
    }
  }
  waits.sort((a, b) => a - b);
  return { p50: waits[Math.floor(waits.length * 0.5)] ?? 0, p99: waits[Math.floor(waits.length * 0.99)] ?? 0 };
}

/** The same numbers for the same seed (mulberry32): a simulation can be repeated. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
