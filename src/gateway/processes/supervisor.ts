import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AbpError } from '../../contract/errors.ts';
import type { Config } from '../config.ts';
import { listenError } from '../door/listener.ts';
import { firstSignal } from './first-signal.ts';
import { type MemberMessage, membershipVariable, STOP } from './member.ts';

export interface SupervisorOptions {
  readonly count: number;
  readonly config: Config;
  readonly log: Logger;
  /** All processes answer for the first time. */
  readonly onReady: (url: string) => void;
}

const MOST = 64;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** A process that lived for so long ended by another cause than the one before it. */
const LIVED_MS = 30_000;

/** One of the processes, as the one that starts them knows it. */
interface Member {
  readonly number: number;
  worker: Worker;
  /** The port of its own door, which the next one in its place takes over. */
  ownPort: number;
  startedAt: number;
  /** How often it ended early in a row. */
  failures: number;
  /** It was told to end, and who told it starts the next one. */
  replaced: boolean;
  ready: boolean;
  /** The configuration was to be read again before it was ready. */
  late: boolean;
}

const UNREADY = { replaced: false, ready: false, late: false } as const;

/**
 * Starts processes that share one port, and starts each again that ends. It is not on the way of any connection: the system spreads them
 * over the processes. (Handed out by this one, as Node does it by default, a connection that was on its way to a process when that was
 * killed would hang.)
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #members = new Map<number, Member>();
  #port: number;
  #stopping = false;
  /** Also while the first ones start: those need no replacement. */
  #rolling = true;

  constructor(options: SupervisorOptions) {
    const { count, config } = options;
    if (count < 1 || count > MOST) throw new AbpError('invalid_request', `--processes takes a number from 1 to ${MOST}.`);
    if (config.database.url === undefined) throw needsPostgres();
    this.#options = options;
    this.#port = config.server.port;
  }

  /** Runs until a signal ends it; the exit code. */
  async run(): Promise<number> {
    const signalled = firstSignal();
    // At once: a signal that nobody listens to would end everything, also one that comes while processes start.
    if (!process.stdin.isTTY) process.on('SIGHUP', () => this.#reload());
    process.on('SIGUSR2', () => void this.#roll());
    // Processes that share a port do not notice a program that shares it as well.
    this.#port = await freePort(this.#options.config.server.host, this.#port);
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    const started = await this.#startAll();
    if (typeof started === 'number') return started;
    this.#rolling = false;
    this.#options.onReady(started.url);
    const signal = await signalled;
    this.#options.log.info(`${signal}: letting running calls of all processes end`);
    await this.#stop();
    return 0;
  }

  /** The first one alone: it brings the database up to date, and says what is wrong where nothing can start. */
  async #startAll(): Promise<{ readonly url: string } | number> {
    const first = await this.#start(1);
    if (typeof first === 'number') return first;
    const numbers = Array.from({ length: this.#options.count - 1 }, (_, at) => at + 2);
    const others = await Promise.all(numbers.map((number) => this.#start(number)));
    const failed = others.find((other) => typeof other === 'number');
    if (failed === undefined) return first;
    await this.#stop();
    return failed;
  }

  /** Starts a process; where it answers, or its exit code when it ends before that. */
  async #start(number: number): Promise<{ readonly url: string } | number> {
    const before = this.#members.get(number);
    const ownPort = before?.ownPort ?? 0;
    const { count } = this.#options;
    const place = { number, count, port: this.#port, ownPort, greets: number === 1 && before === undefined };
    const worker = cluster.fork(membershipVariable(place));
    const member: Member = { number, worker, ownPort, startedAt: Date.now(), failures: before?.failures ?? 0, ...UNREADY };
    this.#members.set(number, member);
    const { promise, resolve } = Promise.withResolvers<{ readonly url: string } | number>();
    worker.on('message', (message: MemberMessage) => {
      if (message.kind === 'reload') this.#reload(number);
      if (message.kind !== 'ready') return;
      member.ready = true;
      if (member.late) worker.process.kill('SIGHUP');
      member.ownPort = message.ownPort;
      resolve({ url: message.url });
    });
    worker.once('exit', (code, signal) => {
      resolve(code || 1);
      // The end of one that has never been ready is the answer of this start.
      if (member.ready || before !== undefined) this.#ended(member, { code, signal });
    });
    return await promise;
  }

  #ended(member: Member, { code, signal }: { readonly code: number | null; readonly signal: string | null }): void {
    if (this.#stopping || member.replaced) return;
    const lived = Date.now() - member.startedAt;
    member.failures = lived < LIVED_MS ? member.failures + 1 : 0;
    const pause = member.failures === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (member.failures - 1));
    this.#options.log.error({ process: member.number, code, signal, pause_ms: pause }, 'a process has ended and is started again');
    void sleep(pause).then(() => (this.#stopping ? undefined : this.#start(member.number)));
  }

  /** Every process reads the configuration again; the one that has done so by itself is left out. */
  #reload(except?: number): void {
    for (const member of this.#members.values()) {
      // One that is starting does not listen to signals yet.
      if (!member.ready) member.late = true;
      else if (member.number !== except) member.worker.process.kill('SIGHUP');
    }
  }

  /** Replaces the processes one after the other, each once the one before it answers. */
  async #roll(): Promise<void> {
    // One that is asked for meanwhile is the one under way.
    if (this.#rolling) return;
    this.#rolling = true;
    await this.#replaceAll();
    this.#rolling = false;
  }

  async #replaceAll(): Promise<void> {
    const { log } = this.#options;
    for (const number of [...this.#members.keys()].sort((a, b) => a - b)) {
      const member = this.#members.get(number);
      if (this.#stopping || member === undefined) return;
      member.replaced = true;
      await this.#endOf(member.worker, () => member.worker.send(STOP));
      if (this.#stopping) return;
      const started = await this.#start(number);
      if (typeof started !== 'number') continue;
      log.error({ process: number, code: started }, 'a process did not start again; the others are left as they are');
      return;
    }
    log.info({ processes: this.#members.size }, 'all processes were replaced');
  }

  async #stop(): Promise<void> {
    this.#stopping = true;
    const members = [...this.#members.values()];
    await Promise.all(members.map(({ worker }) => this.#endOf(worker, () => worker.process.kill('SIGTERM'))));
  }

  async #endOf(worker: Worker, end: () => void): Promise<void> {
    if (worker.isDead()) return;
    const exit = once(worker, 'exit');
    end();
    await exit;
  }
}

function needsPostgres(): AbpError {
  return new AbpError(
    'invalid_request',
    'Several processes share one database, and SQLite is for one: --processes needs PostgreSQL.',
    {},
    'Set ABP_DATABASE_URL (database.url) to a PostgreSQL database, or leave --processes out.',
  );
}

/** The port where it is free, else an error; any free one for 0. All processes then share it by its number. */
async function freePort(host: string, port: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, { host, port })));
    server.listen({ host, port }, resolve);
  });
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new AbpError('internal', 'the system gave no port');
  return address.port;
}
