import { createParser } from 'eventsource-parser';
import { type Dispatcher, Pool } from 'undici';
import { parseJsonObject } from '../src/base/json.ts';
import { cpuMicros } from './processes.ts';

/** Connections that a client needs for each session it drives: one for the stream of events, one for messages. */
const PER_LANE = 2;

/** Text turns of users: a message over HTTP, the events as a stream, the next message when the turn has ended. */
export class TurnClient {
  readonly #pool: Pool;
  readonly #agent: string;

  private constructor(pool: Pool, agent: string) {
    this.#pool = pool;
    this.#agent = agent;
  }

  static async open(url: string, lanes: number): Promise<TurnClient> {
    const pool = new Pool(url, { connections: lanes * PER_LANE + 2 });
    return new TurnClient(pool, await posted(pool, '/v1/agents', { name: 'bench' }));
  }

  /** A new session. */
  async open(): Promise<Lane> {
    return await Lane.open(this.#pool, this.#agent);
  }

  /** Milliseconds of each of so many turns of a new session, one after the other. */
  async lane(turns: number): Promise<number[]> {
    const lane = await this.open();
    const times = await lane.turns(turns);
    lane.close();
    return times;
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

/** One session and the stream of its events. */
class Lane {
  readonly #pool: Pool;
  readonly #session: string;
  readonly #body: Dispatcher.ResponseData['body'];
  #ended: () => void = () => undefined;

  private constructor(pool: Pool, session: string, body: Dispatcher.ResponseData['body']) {
    this.#pool = pool;
    this.#session = session;
    this.#body = body;
    const parser = createParser({ onEvent: ({ event }) => (event === 'session.idled' ? this.#ended() : undefined) });
    body.setEncoding('utf8');
    body.on('data', (text: string) => parser.feed(text));
    // Destroyed at the end of the lane.
    body.on('error', () => undefined);
  }

  static async open(pool: Pool, agent: string): Promise<Lane> {
    const session = await posted(pool, '/v1/sessions', { agent_id: agent });
    const { body } = await pool.request({ method: 'GET', path: `/v1/sessions/${session}/events` });
    return new Lane(pool, session, body);
  }

  /** Milliseconds from the request of a turn to the event that says it has ended. */
  async turn(): Promise<number> {
    const started = performance.now();
    const done = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    await posted(this.#pool, `/v1/sessions/${this.#session}/messages`, { message: { content: 'say "hello"' } });
    await done;
    return performance.now() - started;
  }

  async turns(count: number): Promise<number[]> {
    const times: number[] = [];
    for (let turn = 0; turn < count; turn += 1) times.push(await this.turn());
    return times;
  }

  close(): void {
    this.#body.destroy();
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

export interface Plan {
  readonly name: string;
  readonly lanes: number;
  /** Of each lane. */
  readonly turns: number;
}

export interface Scenario {
  readonly name: string;
  /** Milliseconds of every turn. */
  readonly times: readonly number[];
  readonly perSecond: number;
  /** Milliseconds of processor time that our processes spend on a turn, all threads. */
  readonly cpu: number;
}

/** Drives the lanes of a plan at the same time; `pids` are the processes whose time is counted. */
export async function scenario(client: TurnClient, pids: readonly number[], { name, lanes, turns }: Plan): Promise<Scenario> {
  const spent = (): number => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
  const started = performance.now();
  const before = spent();
  const all = await Promise.all(Array.from({ length: lanes }, () => client.lane(turns)));
  const seconds = (performance.now() - started) / 1000;
  const cpu = (spent() - before) / 1000 / (lanes * turns);
  return { name, times: all.flat(), perSecond: (lanes * turns) / seconds, cpu };
}

/** The line of a scenario in a table: median and tail, throughput, processor time. */
export function scenarioCells({ times, perSecond, cpu }: Scenario): string[] {
  return [...[0.5, 0.95, 0.99].map((part) => percentile(times, part)), perSecond.toFixed(0), cpu.toFixed(2)];
}

function percentile(samples: readonly number[], part: number): string {
  const sorted = samples.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(2);
}
