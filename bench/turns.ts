import { DatabaseSync, StatementSync } from 'node:sqlite';
import { TestPlatform } from '../test/support/platform.ts';
import { type BenchReport, type Finding, judge, spread } from './harness.ts';
import { end, scratchFolder, startGateway } from './processes.ts';
import { type Plan, type Scenario, scenario, scenarioCells, TurnClient } from './turn-lanes.ts';
import { postgresScenarios } from './turns-postgres.ts';

const WARM_UP = 200;
const LANES = 8;
const ALONE: Plan = { name: 'text_c1', lanes: 1, turns: 400 };
const MANY: Plan = { name: 'text_c8', lanes: LANES, turns: 150 };
/** Shorter: PostgreSQL waits for its disk. */
const POSTGRES: readonly Plan[] = [
  { ...ALONE, turns: 150 },
  { ...MANY, turns: 60 },
];
const LONG_HISTORY = 200;
const LONG_SESSIONS = 5;
/** Turns of a short history that are compared with as many at the end of a long one: those around the tenth. */
const COMPARED = { from: 5, to: 15 } as const;
const COUNTED = 50;

const MOST_STATEMENTS = 10;
const LEAST_TURNS_PER_SECOND = 500;
const MOST_P50_MS = 5;
/** The bytes of a request to a stateless engine grow with its history; what we do with them must not show. */
const MOST_GROWTH = 1.25;

/** What upstream measured for its own server, https://github.com/everruns/everruns, with PostgreSQL and its simulated model. */
const UPSTREAM: Readonly<Record<string, string>> = {
  text_c1: 'p50 39 ms, 18.5/s, 284 statements',
  text_c8: 'p50 202 ms, 33.6/s, 271 statements',
};

/** Statements that the database gets per text turn, counted in this process. */
async function statementsPerTurn(): Promise<number> {
  const platform = await TestPlatform.open();
  const session = await platform.session();
  const one = async (): Promise<void> => {
    await platform.send(session, 'say "hello"');
    while (platform.service.worker.busy > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  await one();
  let count = 0;
  const restore = [StatementSync.prototype, DatabaseSync.prototype].map((prototype) => counting(prototype, () => (count += 1)));
  for (let turn = 0; turn < COUNTED; turn += 1) await one();
  for (const undo of restore) undo();
  await platform.close();
  return count / COUNTED;
}

function counting(prototype: object, onCall: () => void): () => void {
  const names = ['run', 'get', 'all', 'iterate', 'exec'].filter((name) => Object.hasOwn(prototype, name));
  const own = names.map((name) => [name, Reflect.get(prototype, name)] as const);
  for (const [name, method] of own) {
    Reflect.set(prototype, name, function counted(this: unknown, ...args: unknown[]): unknown {
      onCall();
      return Reflect.apply(method, this, args);
    });
  }
  return () => {
    for (const [name, method] of own) Reflect.set(prototype, name, method);
  };
}

/** Medians of a turn with a short and with a long history. */
interface Growth {
  readonly early: number;
  readonly late: number;
}

/** A turn with a short history, then one with a long one, and so on: what else the machine does meets both. */
async function historyGrowth(client: TurnClient): Promise<Growth> {
  const early: number[] = [];
  const late: number[] = [];
  const compared = COMPARED.to - COMPARED.from;
  for (let round = 0; round < LONG_SESSIONS; round += 1) {
    const [short, long] = [await client.open(), await client.open()];
    await long.turns(LONG_HISTORY - compared);
    await short.turns(COMPARED.from);
    for (let turn = 0; turn < compared; turn += 1) {
      early.push(await short.turn());
      late.push(await long.turn());
    }
    short.close();
    long.close();
  }
  return { early: spread(early).median, late: spread(late).median };
}

function findingsOf(alone: Scenario, many: Scenario, { early, late }: Growth, statements: number): Finding[] {
  const p50 = spread(alone.times).median;
  const enough = many.perSecond >= LEAST_TURNS_PER_SECOND;
  return [
    { what: 'text_c1, p50 of a turn, ms', figure: p50.toFixed(2), target: `≤ ${MOST_P50_MS}`, verdict: judge(p50, MOST_P50_MS) },
    {
      what: 'text_c8, durable turns per second',
      figure: many.perSecond.toFixed(0),
      target: `≥ ${LEAST_TURNS_PER_SECOND}`,
      verdict: enough ? 'met' : 'not met',
    },
    {
      what: 'statements per text turn',
      figure: statements.toFixed(1),
      target: `≤ ${MOST_STATEMENTS}`,
      verdict: judge(statements, MOST_STATEMENTS),
    },
    {
      what: `db_scale_${LONG_HISTORY}, p50 of turn ${LONG_HISTORY} to that of turn 10`,
      figure: `×${(late / early).toFixed(2)} (${early.toFixed(2)} → ${late.toFixed(2)} ms)`,
      target: `≤ ×${MOST_GROWTH}`,
      verdict: judge(late / early, MOST_GROWTH),
    },
  ];
}

interface Measured {
  readonly scenarios: readonly Scenario[];
  readonly growth: Growth;
}

async function onSqlite(): Promise<Measured> {
  const server = await startGateway({ home: scratchFolder(), config: '', env: {} });
  const client = await TurnClient.open(server.url, LANES);
  try {
    await client.lane(WARM_UP);
    const scenarios: Scenario[] = [];
    for (const plan of [ALONE, MANY]) scenarios.push(await scenario(client, [server.pid], plan));
    return { scenarios, growth: await historyGrowth(client) };
  } finally {
    await client.close();
    await end(server.child);
  }
}

/** Whole turns over HTTP on the sim engine: what a message costs until its answer is stored and told. */
export async function benchTurns(): Promise<BenchReport> {
  const statements = await statementsPerTurn();
  const { scenarios, growth } = await onSqlite();
  const [alone, many] = scenarios;
  if (alone === undefined || many === undefined) throw new Error('a scenario was left out');
  const postgres = await postgresScenarios(POSTGRES);
  return {
    title: 'Turns',
    method: METHOD,
    findings: findingsOf(alone, many, growth, statements),
    table: [
      ['database', 'scenario', 'p50, ms', 'p95, ms', 'p99, ms', 'turns/s', 'CPU per turn, ms', 'upstream'],
      ...[['SQLite, one process', scenarios] as const, ...postgres].flatMap(([database, all]) =>
        all.map((one) => [database, one.name, ...scenarioCells(one), UPSTREAM[one.name] ?? '']),
      ),
    ],
  };
}

const METHOD =
  'Text turns over HTTP on the sim engine, `abp serve` as it comes, the client in another process of the same machine: a message, then the ' +
  `stream of events until the turn has ended. text_c1 is one session, text_c8 is ${LANES} at once. db_scale_${LONG_HISTORY} is ` +
  `${LONG_SESSIONS} pairs of sessions, one with a history of ${LONG_HISTORY} turns: the median of its last ten turns against that of turns ` +
  `${COMPARED.from + 1} to ${COMPARED.to} of the other, taken in turns. What is left of growth is the conversation itself: a stateless engine gets all of it with every call, so it is written, ` +
  'hashed, recorded and, since sim is inside the process, read each time. Every turn and every model call leaves a receipt, every call a ' +
  'recording. PostgreSQL runs on the same cores and waits for its disk at every commit (`fsync` and `synchronous_commit` on); processor time is ' +
  'that of our processes alone. With as few cores as here several processes show what sharing a database costs, not what it gains.';
