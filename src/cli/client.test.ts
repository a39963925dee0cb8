import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { clientOf } from './client.ts';
import { toFailure } from './failure.ts';

let server: Server | undefined;
afterEach(() => server?.close());

/** A server that answers every call with one body, and the calls it saw. */
async function answering(status: number, body: string) {
  const seen: { method: string | undefined; url: string | undefined; key: unknown; type: unknown; body: string }[] = [];
  const started = createServer(async (req, res) => {
    seen.push({
      method: req.method,
      url: req.url,
      key: req.headers['x-abp-key'],
      type: req.headers['content-type'],
      body: await text(req),
    });
    res.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  // A TCP server has an address object; only pipes have a string.
  const { port } = started.address() as AddressInfo;
  return { seen, client: clientOf({ url: `http://127.0.0.1:${port}`, pid: 1 }, 'the-token') };
}

async function failureOf(promise: Promise<unknown>) {
  return toFailure(
    await promise.then(
      () => new Error('it did not fail'),
      (thrown: unknown) => thrown,
    ),
  );
}

describe('the client of a home', () => {
  it('sends the token and the body and returns the answer', async () => {
    const { seen, client } = await answering(200, '{"items":[]}');
    expect(await client.call('POST', '/v1/negotiate', { backend: 'engine:sim' })).toEqual({ items: [] });
    expect(seen).toEqual([
      { method: 'POST', url: '/v1/negotiate', key: 'the-token', type: 'application/json', body: '{"backend":"engine:sim"}' },
    ]);
  });

  it('throws the error that an answer carries', async () => {
    const body = '{"error":{"code":"not_found","type":"NotFound","message":"there is no run run_1","details":{"run":"run_1"}}}';
    const { client } = await answering(404, body);
    expect(await failureOf(client.call('GET', '/v1/receipts/run_1'))).toMatchObject({
      exit: 'notFound',
      error: { code: 'not_found', message: 'there is no run run_1', details: { run: 'run_1' } },
    });
  });

  it('says the status of an error answer that is not ours', async () => {
    const { client } = await answering(502, '<html>bad gateway</html>');
    expect(await failureOf(client.call('GET', '/'))).toMatchObject({ exit: 'general', error: { message: 'the server answered 502' } });
  });

  it('says so when nobody answers', async () => {
    expect(await failureOf(clientOf({ url: 'http://127.0.0.1:1', pid: 42 }, 't').call('GET', '/healthz'))).toMatchObject({
      exit: 'unavailable',
      error: {
        code: 'no_server',
        message: 'the server at http://127.0.0.1:1 (pid 42) does not answer',
        hint: 'Start one with abp serve, name its home with --home, or sign in to one with abp login URL.',
      },
    });
  });
});
