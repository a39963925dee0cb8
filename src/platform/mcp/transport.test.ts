import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Outbound } from '../../upstream/outbound.ts';
import { outboundFetch } from './transport.ts';

let server: Server;
let address: string;
const open = new Set<ServerResponse>();
const MIB = 'x'.repeat(1024 * 1024);

beforeAll(async () => {
  server = createServer((request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    response.on('error', () => undefined);
    response.writeHead(200, { 'content-type': request.url === '/json' ? 'application/json' : 'text/event-stream' });
    const events = request.url === '/events';
    for (let sent = 0; sent < 30; sent += 1) response.write(events ? `data: ${MIB}\n\n` : MIB);
    if (events) response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server that listens has one
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const read = async (path: string): Promise<number> => {
  const fetch = outboundFetch(new Outbound({ allow: [address] }));
  return (await (await fetch(`http://${address}${path}`)).arrayBuffer()).byteLength;
};

it.each(['/json', '/endless-event'])('an MCP answer without an end is broken off, and its connection closed: %s', async (path) => {
  await expect(read(path)).rejects.toThrow(/terminated|longer than/);
  await expect.poll(() => open.size, { timeout: 60_000 }).toBe(0);
});

it('a stream goes on for as long as its events are short', async () => {
  expect(await read('/events')).toBe(30 * (MIB.length + 8));
});
