import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { httpTransport } from './http.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

async function listening(server: http.Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens
}

/** A proxy for plain HTTP, which gets whole addresses on the request line; it remembers them. */
async function startProxy(): Promise<{ host: string; asked: string[] }> {
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    asked.push(request.url ?? '');
    http.get(request.url ?? '', (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502)));
  });
  return { host: await listening(server), asked };
}

async function get(origin: string): Promise<number> {
  const { transport, close } = httpTransport({ maxConnections: 4, connectMs: 1000 });
  const status = await new Promise<number>((resolve, reject) => {
    let seen = 0;
    transport(
      { method: 'GET', origin, path: '/', headers: [], body: null, silenceMs: 2000, runHex: '' },
      {
        head: (code) => {
          seen = code;
        },
        data: () => true,
        end: () => resolve(seen),
        fail: ({ message }) => reject(new Error(message)),
      },
    );
  });
  await close();
  return status;
}

test('the proxy that the environment names carries the call, and NO_PROXY goes straight', async () => {
  const engine = await listening(http.createServer((_request, response) => response.writeHead(204).end()));
  const proxy = await startProxy();
  vi.stubEnv('HTTP_PROXY', `http://${proxy.host}`);
  expect(await get(`http://${engine}`)).toBe(204);
  expect(proxy.asked).toEqual([`http://${engine}/`]);
  vi.stubEnv('NO_PROXY', '127.0.0.1');
  expect(await get(`http://${engine}`)).toBe(204);
  expect(proxy.asked).toHaveLength(1);
});
