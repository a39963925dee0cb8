import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openListener } from '../../src/store/databases/listener.ts';
import { freshDatabase } from '../support/postgres.ts';

let url: URL;
let pooler: Server;
const sockets = new Set<Socket>();

/** The type of a message of PostgreSQL that holds a notice. */
const NOTICE = 'A'.charCodeAt(0);

/** Passes the messages of PostgreSQL on without notices, as a pooler does that lends connections for one transaction each. */
function withoutNotices(from: Socket, to: Socket): void {
  let kept = Buffer.alloc(0);
  from.on('data', (data) => {
    kept = Buffer.concat([kept, data]);
    while (kept.length >= 5 && kept.length > kept.readUInt32BE(1)) {
      const end = 1 + kept.readUInt32BE(1);
      if (kept[0] !== NOTICE) to.write(kept.subarray(0, end));
      kept = kept.subarray(end);
    }
  });
}

beforeAll(async () => {
  url = new URL(await freshDatabase());
  pooler = createServer((client) => {
    const server = connect(Number(url.port), url.hostname);
    withoutNotices(server, client);
    client.pipe(server);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(pooler, 'listening');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((done) => pooler.close(done));
});

const listenAt = (address: string, heard: string[], heardMs?: number) =>
  openListener({
    url: address,
    channels: ['abp_tried'],
    onNotice: (channel, payload) => void heard.push(`${channel} ${payload}`),
    onGap: () => undefined,
    onTrouble: () => undefined,
    onDeaf: (error) => {
      throw error;
    },
    ...(heardMs === undefined ? {} : { heardMs }),
  });

it('hears what others say, and nothing of how it has tried that', async () => {
  const heard: string[] = [];
  const listener = await listenAt(url.href, heard);
  const other = new pg.Client({ connectionString: url.href });
  await other.connect();
  await other.query("notify abp_tried, 'hello'");
  await expect.poll(() => heard).toEqual(['abp_tried hello']);
  await other.end();
  await listener.close();
});

it('refuses an address over which no notice arrives, and leaves no connection behind', async () => {
  const address = new URL(url);
  address.port = String((pooler.address() as AddressInfo).port); // a server that listens on TCP
  await expect(listenAt(address.href, [], 200)).rejects.toThrow(/pool_mode = session/);
  await expect.poll(() => [...sockets].every((socket) => socket.destroyed)).toBe(true);
});
