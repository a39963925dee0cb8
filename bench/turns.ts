import { DatabaseSync, StatementSync } from 'node:sqlite';
import { createParser } from 'eventsource-parser';
import { Pool } from 'undici';
import { parseJsonObject } from '../src/base/json.ts';
import { TestPlatform } from '../test/support/platform.ts';
import { type BenchReport, type Finding, judge, spread } from './harness.ts';
import { cpuMicros, end, scratchFolder, startGateway } from './processes.ts';

const WARM_UP = 100;
const TURNS_ALONE = 400;
const TURNS_PER_LANE = 150;
const LANES = 8;
const LONG_HISTORY = 200;
const EDGE = 20;
const COUNTED = 50;

const MOST_STATEMENTS = 10;
const LEAST_TURNS_PER_SECOND = 500;
const MOST_P50_MS = 5;
/** The engine reads the whole history in every turn; beyond that a turn must not grow with it. */
const MOST_GROWTH_MS = 2;

/** What upstream measured for its own server, https://github.com/everruns/everruns, with PostgreSQL and its simulated model. */
const UPSTREAM = { text_c1: 'p50 39 ms, 18.5/s, 284 statements', text_c8: 'p50 202 ms, 33.6/s, 271 statements' } as const;

interface Lane {
  /** Milliseconds from the request of each turn to the event that says it has ended. */
  readonly times: readonly number[];
}

/** One session after another user's fashion: a message over HTTP, the events as a stream, the next message when the turn has ended. */
class Client {
  readonly #pool: Pool;
  readonly #agent: string;

  private constructor(pool: Pool, agent: string) {
    this.#pool = pool;
    this.#agent = agent;
  }

  static async open(url: string): Promise<Client> {
    const pool = new Pool(url, { connections: LANES * 2 + 2 });
    return new Client(pool, await posted(pool, '/v1/agents', { name: 'bench' }));
  }

  async lane(turns: number): Promise<Lane> {
    const session = await posted(this.#pool, '/v1/sessions', { agent_id: this.#agent });
    const stream = await this.#pool.request({ method: 'GET', path: `/v1/sessions/${session}/events` });
    let ended: () => void = () => undefined;
    const parser = createParser({ onEvent: ({ event }) => (event === 'session.idled' ? ended() : undefined) });
    stream.body.setEncoding('utf8');
    stream.body.on('data', (text: string) => parser.feed(text));
    // Destroyed at the end of the lane.
    stream.body.on('error', () => undefined);
    const times: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const started = performance.now();
      const done = new Promise<void>((resolve) => {
        ended = resolve;
      });
      await posted(this.#pool, `/v1/sessions/${session}/messages`, { message: { content: 'say "hello"' } });
      await done;
      times.push(performance.now() - started);
    }
    stream.body.destroy();
    return { times };
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

/** Posts JSON and returns the id of what was made. */
async function posted(pool: Pool, path: string, body: object): Promise<string> {
  const answer = await pool.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const made = parseJsonObject(await answer.body.text());
  if (answer.statusCode !== 201 || typeof made?.id !== 'string') throw new Error(`${path} answered ${answer.statusCode}`);
  return made.id;
}

/** Statements that the database gets per text turn, counted in this process. */
async function statementsPerTurn(): Promise<number> {
  const platform = await TestPlatform.open();
  const session = await platform.session();
  const one = async (): Promise<void> => {
    await platform.send(session, 'say "hello"');
    while (platform.platform.worker.busy > 0) await new Promise((resolve) => setImmediate(resolve));
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

function percentile(samples: readonly number[], part: number): string {
  const sorted = samples.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(2);
}

interface Scenario {
  readonly name: string;
  readonly times: readonly number[];
  readonly perSecond: number;
  /** Milliseconds of processor time that the server spends on a turn, all threads. */
  readonly cpu: number;
}

interface Plan {
  readonly name: string;
  readonly lanes: number;
  readonly turns: number;
}

async function scenario(client: Client, pid: number, { name, lanes, turns }: Plan): Promise<Scenario> {
  const started = performance.now();
  const before = cpuMicros(pid);
  const all = await Promise.all(Array.from({ length: lanes }, () => client.lane(turns)));
  const seconds = (performance.now() - started) / 1000;
  const cpu = (cpuMicros(pid) - before) / 1000 / (lanes * turns);
  return { name, times: all.flatMap(({ times }) => times), perSecond: (lanes * turns) / seconds, cpu };
}

interface Growth {
  readonly first: number;
  readonly last: number;
}

function findingsOf(alone: Scenario, many: Scenario, { first, last }: Growth, statements: number): Finding[] {
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
      what: `db_scale_${LONG_HISTORY}, what ${LONG_HISTORY} turns of history add to a turn, ms`,
      figure: `${(last - first).toFixed(2)} (${first.toFixed(2)} → ${last.toFixed(2)}, ×${(last / first).toFixed(2)})`,
      target: `≤ ${MOST_GROWTH_MS}`,
      verdict: judge(last - first, MOST_GROWTH_MS),
    },
  ];
}

/** Whole turns over HTTP on the sim engine: what a message costs until its answer is stored and told. */
export async function benchTurns(): Promise<BenchReport> {
  const statements = await statementsPerTurn();
  const home = scratchFolder();
  const server = await startGateway({ home, config: '', env: {} });
  const client = await Client.open(server.url);
  try {
    await client.lane(WARM_UP);
    const alone = await scenario(client, server.pid, { name: 'text_c1', lanes: 1, turns: TURNS_ALONE });
    const many = await scenario(client, server.pid, { name: 'text_c8', lanes: LANES, turns: TURNS_PER_LANE });
    const long = await client.lane(LONG_HISTORY);
    const growth = { first: spread(long.times.slice(0, EDGE)).median, last: spread(long.times.slice(-EDGE)).median };
    return {
      title: 'Turns',
      method:
        `Text turns over HTTP on SQLite and the sim engine, \`abp serve\` as it comes, the client in another process of the same machine: a message, then the stream of events until the turn has ended. ` +
        `text_c1 is one session of ${TURNS_ALONE} turns, text_c8 is ${LANES} sessions of ${TURNS_PER_LANE} at once, db_scale_${LONG_HISTORY} is one session of ${LONG_HISTORY}: the median of its last ${EDGE} turns less that of its first ${EDGE}, which is mostly the engine reading the conversation. Every model call also leaves a receipt and a recording.`,
      findings: findingsOf(alone, many, growth, statements),
      table: [
        ['scenario', 'p50, ms', 'p95, ms', 'p99, ms', 'turns/s', 'CPU per turn, ms', 'upstream'],
        ...[alone, many].map(({ name, times, perSecond, cpu }) => [
          name,
          ...[0.5, 0.95, 0.99].map((part) => percentile(times, part)),
          perSecond.toFixed(0),
          cpu.toFixed(2),
          name === 'text_c1' ? UPSTREAM.text_c1 : UPSTREAM.text_c8,
        ]),
      ],
    };
  } finally {
    await client.close();
    await end(server.child);
  }
}
