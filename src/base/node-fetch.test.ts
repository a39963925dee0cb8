import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeFetch } from './node-fetch.ts';

let server: Server | undefined;
afterEach(() => void server?.close());

async function serving(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address object; only pipes have a string.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('nodeFetch', () => {
  it('sends method, headers and body and reads the answer', async () => {
    const url = await serving(async (request, response) => {
      const { method, headers } = request;
      response.writeHead(201, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ method, key: headers['x-abp-key'], length: headers['content-length'], body: await text(request) }));
    });
    const answer = await nodeFetch(`${url}/a`, { method: 'PUT', headers: { 'x-abp-key': 'k' }, body: 'é' });
    expect([answer.ok, answer.status, answer.headers.get('content-type'), answer.headers.get('none')]).toEqual([
      true,
      201,
      'application/json',
      null,
    ]);
    expect(await answer.json()).toEqual({ method: 'PUT', key: 'k', length: '2', body: 'é' });
  });

  it('keeps no connection', async () => {
    const url = await serving((request, response) => response.end(request.headers.connection));
    expect(await (await nodeFetch(url)).text()).toBe('close');
  });

  it('says what is not JSON', async () => {
    const url = await serving((_, response) => response.end('<html>'));
    await expect((await nodeFetch(url)).json()).rejects.toThrow(SyntaxError);
  });

  it('hands out an answer piece by piece, and fails where it is cut off or given up', async () => {
    const url = await serving((request, response) => {
      response.write('one');
      if (request.url === '/cut') setImmediate(() => response.destroy());
    });
    const first = async (path: string, signal?: AbortSignal): Promise<void> => {
      for await (const piece of (await nodeFetch(`${url}${path}`, { signal })).body) expect(Buffer.from(piece).toString()).toBe('one');
    };
    await expect(first('/cut')).rejects.toThrow();
    const leaving = new AbortController();
    const left = first('/', leaving.signal);
    leaving.abort();
    await expect(left).rejects.toThrow(/abort/i);
  });

  it('fails where nobody listens', async () => {
    await expect(nodeFetch('http://127.0.0.1:1/')).rejects.toThrow(/ECONNREFUSED/);
  });
});
