import { readFileSync } from 'node:fs';
import pg from 'pg';
import { startPostgres } from '../test/support/postgres.ts';
import { simulateFleet } from './fleet-simulation.ts';
import type { BenchReport } from './harness.ts';
import { send } from './passthrough.ts';
import { cpuMicros, end, quiet, residentMb, type Subject, scratchFolder, startGateway, startScript, startServer } from './processes.ts';
import { TRAFFIC, type Traffic } from './traffic.ts';

const CONCURRENCY = 16;
const ROUNDS = 5;
const WARM_UP = 0.1;
/** The fleet that the simulation is asked for. */
const CALLS_PER_SECOND = 100_000;
/** How long an answer of a model takes, of which a gateway sees the connection. */
const ANSWER_SECONDS = 10;
/** Resident memory per open stream, from the section about slow streams: (329 − 150) MB for 2,000. */
const STREAM_KB = 90;

/** What a call costs each part, in microseconds of processor time and in bytes. */
export interface CallCost {
  readonly traffic: string;
  /** In how many turns of the event loop it is done. */
  readonly pieces: number;
  /** The thread that serves calls: it bounds a process. */
  readonly main: number;
  /** All threads of the process. */
  readonly process: number;
  readonly database: number;
  readonly walBytes: number;
  readonly rowBytes: number;
}

/** What a node and its database pay per call, and what a fleet is by that. */
export async function benchFleet(): Promise<BenchReport> {
  const postgres = await startPostgres({ durable: true });
  try {
    const costs: CallCost[] = [];
    let resident = 0;
    for (const traffic of TRAFFIC) {
      const measured = await onNode(await postgres.freshDatabase(), traffic);
      costs.push(measured.cost);
      resident = Math.max(resident, measured.resident);
    }
    return report(costs, resident);
  } finally {
    await postgres.stop();
  }
}

async function onNode(url: string, traffic: Traffic): Promise<{ cost: CallCost; resident: number }> {
  const upstream = await startServer('./upstream.ts', [traffic.id]);
  const load = startScript('./load.ts');
  const config = `[database]\nurl = "${url}"\n[recording]\ndefault = "digest"\n`;
  const node = await startGateway({ home: scratchFolder(), config, env: { ABP_ENGINE_CLAUDE_URL: upstream.url } });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const burst = (count: number) => send(load, node, { traffic: traffic.id, count, concurrency: CONCURRENCY });
    await burst(Math.ceil(traffic.warmUp * WARM_UP));
    const rounds: CallCost[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measured(client, node, traffic, () => burst(traffic.count)));
    const middle = (of: (cost: CallCost) => number): number => rounds.map(of).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    return {
      cost: {
        traffic: traffic.label,
        pieces: piecesOf(traffic),
        main: middle(({ main }) => main),
        process: middle((one) => one.process),
        database: middle(({ database }) => database),
        walBytes: middle(({ walBytes }) => walBytes),
        rowBytes: middle(({ rowBytes }) => rowBytes),
      },
      resident: residentMb(node.pid),
    };
  } finally {
    await client.end();
    for (const { child } of [node, upstream]) await end(child);
    await end(load);
  }
}

async function measured(client: pg.Client, node: Subject, traffic: Traffic, work: () => Promise<unknown>): Promise<CallCost> {
  await quiet(node.pid);
  const before = await reading(client, node.pid);
  await work();
  await quiet(node.pid);
  const after = await reading(client, node.pid);
  const each = (of: (one: Reading) => number): number => (of(after) - of(before)) / traffic.count;
  return {
    traffic: traffic.label,
    pieces: piecesOf(traffic),
    main: each(({ main }) => main),
    process: each((one) => one.process),
    database: each(({ database }) => database),
    walBytes: each(({ wal }) => wal),
    rowBytes: each(({ size }) => size),
  };
}

const piecesOf = ({ answer }: Traffic): number => (Buffer.isBuffer(answer) ? 1 : answer.length);

interface Reading {
  readonly main: number;
  readonly process: number;
  readonly database: number;
  readonly wal: number;
  readonly size: number;
}

async function reading(client: pg.Client, pid: number): Promise<Reading> {
  const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity where pid <> pg_backend_pid()');
  const sizes = await client.query<{ wal: string; size: string }>(
    "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as wal, pg_database_size(current_database())::text as size",
  );
  const main = Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  const database = rows.reduce((sum, row) => sum + cpuMicros(row.pid), 0);
  return { main, process: cpuMicros(pid), database, wal: Number(sizes.rows[0]?.wal), size: Number(sizes.rows[0]?.size) };
}

function report(costs: readonly CallCost[], resident: number): BenchReport {
  const fleets = costs.map((cost) =>
    simulateFleet(cost, { callsPerSecond: CALLS_PER_SECOND, answerSeconds: ANSWER_SECONDS, streamKb: STREAM_KB, residentMb: resident }),
  );
  const cell = (value: number, digits = 0): string => value.toLocaleString('en', { maximumFractionDigits: digits });
  return {
    title: 'Fleet',
    method:
      `One node with recording digest on a PostgreSQL that waits for its disk, ${ROUNDS} rounds of ${CONCURRENCY} kept-alive connections, medians. The thread that serves calls bounds a process; the rest of its processor time is that of the keeper, which another core does. Time of the database is that of all its processes; its rows grow by what a call adds to the files of the database, and the log by what is written ahead. ` +
      `The fleet is simulated for ${cell(CALLS_PER_SECOND)} calls a second that last ${ANSWER_SECONDS} s each: calls arrive at random on connections that are spread over processes by their hash, each process serves one call, or one chunk of a stream, at a time at the measured cost and holds at most 10,000 streams, and processes are added until 99 of 100 wait less than 5 ms for it. Figures of a busy machine are too high.`,
    findings: [],
    table: [
      [
        'traffic',
        'serving thread, µs',
        'process, µs',
        'PostgreSQL, µs',
        'log, bytes',
        'rows, bytes',
        'a process carries, calls/s',
        'a core of PostgreSQL, calls/s',
        `fleet for ${cell(CALLS_PER_SECOND)}/s: processes`,
        'cores for them',
        'wait p50 / p99, ms',
        'cores of PostgreSQL',
        'log, MB/s',
        'rows, TB a day',
        'open streams per process',
        'memory of a process, MB',
      ],
      ...fleets.map((fleet) => [
        fleet.cost.traffic,
        ...[fleet.cost.main, fleet.cost.process, fleet.cost.database, fleet.cost.walBytes, fleet.cost.rowBytes].map((value) => cell(value)),
        ...[fleet.processCarries, 1e6 / fleet.cost.database, fleet.processes, fleet.cores].map((value) => cell(value)),
        `${fleet.waitMs.p50.toFixed(2)} / ${fleet.waitMs.p99.toFixed(2)}`,
        ...[fleet.databaseCores, fleet.walMbPerSecond].map((value) => cell(value)),
        cell(fleet.rowsTbPerDay, 1),
        ...[fleet.streamsPerProcess, fleet.memoryMb].map((value) => cell(value)),
      ]),
    ],
  };
}
