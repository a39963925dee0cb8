import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openPostgres } from '../../src/store/databases/postgres.ts';
import { type Identity, postgresPrograms } from './postgres-programs.ts';

/** A real PostgreSQL server. */
export interface TestPostgres {
  /** Creates an empty database and returns its URL. */
  freshDatabase(): Promise<string>;
  /** Creates one that has the tables of this version already, which saves a suite of many servers the time to make them each time. */
  readyDatabase(): Promise<string>;
  /** Takes the server away, with all it holds, until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

const PASSWORD = 'test';
const READY = 'database system is ready to accept connections';
/** Told in the language that is read here, in any locale and in none. */
const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

interface Started {
  readonly child: ChildProcess;
  /** Everything it has printed so far. */
  printed(): string;
}

/** Starts a program of PostgreSQL. A program that cannot be started at all is an `exit` with the reason printed. */
function start(program: string, args: readonly string[], identity: Identity | undefined): Started {
  const child = spawn(program, args, { ...identity, cwd: '/', env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout?.on('data', (chunk) => (text += String(chunk)));
  child.stderr?.on('data', (chunk) => (text += String(chunk)));
  child.on('error', (error) => {
    text += error.message;
    child.emit('exit', -1, null);
  });
  return { child, printed: () => text };
}

async function initialise(program: string, args: readonly string[], identity: Identity | undefined): Promise<void> {
  const { child, printed } = start(program, args, identity);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${printed()}`);
}

/** Resolves when the server takes connections, and rejects with its own words as soon as it has ended instead. */
async function serve(program: string, args: readonly string[], identity: Identity | undefined): Promise<ChildProcess> {
  const { child, printed } = start(program, args, identity);
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', () => {
      if (printed().includes(READY)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${printed()}`)));
  });
  return child;
}

/** Lets this process end while the child runs. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
}

/**
 * Stop it in `afterAll`; a watchdog stops it when the test process dies before that. It does not wait for the disk unless it is to be
 * `durable`: a test ends before any power failure. One that does not keep us lets the test process end while it runs.
 */
export async function startPostgres({ durable = false, keepsUs = true } = {}): Promise<TestPostgres> {
  const { bin, identity, temporary } = postgresPrograms();
  const folder = mkdtempSync(join(temporary, 'abp-postgres-'));
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${PASSWORD}\n`, { mode: 0o600 });
  for (const path of identity === undefined ? [] : [folder, passwordFile]) chownSync(path, identity?.uid ?? 0, identity?.gid ?? 0);
  const watchdog = spawn(process.execPath, [fileURLToPath(new URL('./postgres-watchdog.ts', import.meta.url)), folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  letGo(watchdog);
  let server: ChildProcess | undefined;
  let port = 0;
  const pause = async (): Promise<void> => {
    const running = server;
    server = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill('SIGINT');
    await ended;
  };
  const resume = async (): Promise<void> => {
    server = await serve(
      join(bin, 'postgres'),
      // biome-ignore format: one setting a line says no more.
      ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', `fsync=${durable ? 'on' : 'off'}`],
      identity,
    );
    if (!keepsUs) letGo(server);
  };
  const stop = async (): Promise<void> => {
    await pause();
    watchdog.stdin.end();
  };
  try {
    // The built-in locale needs nothing of the machine; the order of texts is that of their code points.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    await initialise(join(bin, 'initdb'), [`--pgdata=${data}`, ...access, ...locale, '--no-sync'], identity);
    port = await freePort();
    await resume();
  } catch (error) {
    await stop();
    throw new Error(`PostgreSQL did not start: ${error instanceof Error ? error.message : String(error)}`);
  }
  const urlOf = (name: string): string => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${name}`;
  let databases = 0;
  const create = async (from: string): Promise<string> => {
    databases += 1;
    const name = `test_${databases}`;
    const client = new pg.Client({ connectionString: urlOf('postgres') });
    await client.connect();
    await client.query(`create database ${name} template ${from}`);
    await client.end();
    return name;
  };
  const freshDatabase = async (): Promise<string> => urlOf(await create('template1'));
  let ready: Promise<string> | undefined;
  const withTables = async (): Promise<string> => {
    const name = await create('template1');
    const store = await openPostgres(urlOf(name));
    await store.close();
    return name;
  };
  const readyDatabase = async (): Promise<string> => {
    ready ??= withTables();
    return urlOf(await create(await ready));
  };
  return { freshDatabase, readyDatabase, pause, resume, stop };
}

let shared: Promise<TestPostgres> | undefined;

/**
 * The one server that the test files of this process share. The first file that asks starts it, and its watchdog stops it when the process
 * ends. A test that takes its server away starts one of its own.
 */
function sharedServer(): Promise<TestPostgres> {
  shared ??= startPostgres({ keepsUs: false });
  return shared;
}

/** An empty database, for a test of what the first start makes of it. */
export async function freshDatabase(): Promise<string> {
  return (await sharedServer()).freshDatabase();
}

/** A database with the tables of this version, and nothing in them. */
export async function readyDatabase(): Promise<string> {
  return (await sharedServer()).readyDatabase();
}
