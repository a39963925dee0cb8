import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { Outbound, type OutboundOptions } from './outbound.ts';
import type { Resolver } from './outbound-lookup.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server on loopback; its port. */
async function serve(handler: http.RequestListener): Promise<number> {
  const server = http.createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port; // it listens on TCP
}

function client(options: OutboundOptions = {}): Outbound {
  const outbound = new Outbound(options);
  closing.push(() => outbound.close());
  return outbound;
}

const resolvesTo =
  (...addresses: string[]): Resolver =>
  (_, answered) =>
    answered(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

describe('what is blocked', () => {
  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://0x7f.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:10.0.0.1]/',
  ])('refuses %s before it connects', async (url) => {
    await expect(client().read({ url }, 100)).rejects.toMatchObject({ code: 'E005' });
  });

  it('refuses a name that resolves to a private address, and one that mixes both', async () => {
    const port = await serve((_, response) => response.end('reached'));
    for (const resolve of [resolvesTo('127.0.0.1'), resolvesTo('8.8.8.8', '127.0.0.1'), resolvesTo()]) {
      await expect(client({ resolve }).read({ url: `http://rebind.test:${port}/` }, 100)).rejects.toMatchObject({
        code: 'E005',
        message: expect.stringContaining('rebind.test'),
      });
    }
  });

  it('asks for the name once per connection, so that a second answer cannot differ', async () => {
    let asked = 0;
    const resolve: Resolver = (_, answered) => {
      asked += 1;
      answered(null, [{ address: asked === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }]);
    };
    await expect(client({ resolve }).read({ url: 'http://rebind.test/' }, 100)).rejects.toMatchObject({ code: 'E005' });
    expect(asked).toBe(1);
  });

  it.each(['file:///etc/passwd', 'ftp://example.test/', 'javascript:1', 'not a url', 'http://user:pass@example.test/'])(
    'refuses the address %s',
    async (url) => {
      await expect(client().read({ url }, 100)).rejects.toMatchObject({ code: 'invalid_request' });
    },
  );

  it('checks every redirect anew', async () => {
    const inner = await serve((_, response) => response.end('secret'));
    const outer = await serve((_, response) => response.writeHead(302, { location: `http://127.0.0.1:${inner}/` }).end());
    await expect(client({ allow: [`127.0.0.1:${outer}`] }).read({ url: `http://127.0.0.1:${outer}/` }, 100)).rejects.toMatchObject({
      code: 'E005',
    });
  });
});

describe('what is trusted by name', () => {
  it('is read whole, with redirects followed and credentials left at home', async () => {
    const seen: http.IncomingHttpHeaders[] = [];
    const inner = await serve((request, response) => {
      seen.push(request.headers);
      response.setHeader('content-type', 'text/plain').end('there');
    });
    const outer = await serve((request, response) => {
      seen.push(request.headers);
      response.writeHead(302, { location: `http://localhost:${inner}/` }).end();
    });
    const answer = await client({ allow: ['127.0.0.1', 'localhost'] }).read(
      { url: `http://127.0.0.1:${outer}/`, headers: { Authorization: 'Bearer x', Accept: 'text/plain' } },
      100,
    );
    expect(answer).toMatchObject({ status: 200, url: `http://localhost:${inner}/`, truncated: false });
    expect(answer.body.toString()).toBe('there');
    expect(seen.map((headers) => [headers.authorization, headers.accept])).toEqual([
      ['Bearer x', 'text/plain'],
      [undefined, 'text/plain'],
    ]);
  });

  it('is decoded and cut at the limit', async () => {
    const port = await serve((_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(1_000_000, 'a'))));
    const answer = await client({ allow: ['127.0.0.1'] }).read({ url: `http://127.0.0.1:${port}/` }, 1000);
    expect([answer.body.length, answer.truncated]).toEqual([1000, true]);
  });

  it('is given up when it redirects for ever, stays silent or is not there', async () => {
    const loop = await serve((_, response) => response.writeHead(302, { location: '/' }).end());
    const silent = await serve(() => undefined);
    const outbound = client({ allow: ['127.0.0.1'] });
    await expect(outbound.read({ url: `http://127.0.0.1:${loop}/` }, 100)).rejects.toMatchObject({ code: 'E005' });
    await expect(outbound.read({ url: `http://127.0.0.1:${silent}/`, timeoutMs: 50 }, 100)).rejects.toMatchObject({
      code: 'engine_timeout',
    });
    await expect(outbound.read({ url: 'http://127.0.0.1:1/' }, 100)).rejects.toMatchObject({ code: 'E007' });
    await expect(outbound.read({ url: `http://127.0.0.1:${silent}/`, signal: AbortSignal.abort() }, 100)).rejects.toMatchObject({
      code: 'request_timeout',
    });
  });

  it('never gets a body that was meant for another origin', async () => {
    const port = await serve((_, response) => response.writeHead(307, { location: 'http://localhost:1/' }).end());
    await expect(
      client({ allow: ['127.0.0.1', 'localhost'] }).read({ url: `http://127.0.0.1:${port}/`, method: 'POST', body: 'x' }, 100),
    ).rejects.toMatchObject({ code: 'E005', message: expect.stringContaining('redirects a body') });
  });
});
