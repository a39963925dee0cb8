import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import v8 from 'node:v8';
import vm from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import type { ExchangeSink } from './exchange.ts';
import { httpTransport } from './http.ts';

const LARGE = 80 * 1024;
const closing: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function transport(): ReturnType<typeof httpTransport>['transport'] {
  const { transport, close } = httpTransport({ maxConnections: 4, connectMs: 1000 });
  closing.push(close);
  return transport;
}

async function engine(handler: http.RequestListener): Promise<string> {
  const server = http.createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
}

/** An answer that is waited for: its head, or its end. */
function answer(): { readonly sink: ExchangeSink; readonly headed: Promise<number>; readonly ended: Promise<string> } {
  const headed = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string>();
  let text = '';
  const sink: ExchangeSink = {
    head: (status) => headed.resolve(status),
    data: (chunk) => {
      text += chunk.toString('utf8');
      return true;
    },
    end: () => ended.resolve(text),
    fail: ({ kind, message }) => {
      headed.reject(new Error(message));
      ended.resolve(`${kind}: ${message}`);
    },
  };
  headed.promise.catch(() => undefined);
  return { sink, headed: headed.promise, ended: ended.promise };
}

function post(origin: string, body: Buffer): Parameters<ReturnType<typeof transport>>[0] {
  return { method: 'POST', origin, path: '/', headers: ['content-type', 'text/plain'], body, silenceMs: 5000, runHex: '00' };
}

async function received(request: http.IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of request) bytes += (chunk as Buffer).length; // no encoding is set
  return bytes;
}

describe('httpTransport', () => {
  it('sends a large body whole and with its length', async () => {
    const origin = await engine(async (request, response) => {
      response.end(`${await received(request)} ${request.headers['content-length']} ${request.headers['transfer-encoding']}`);
    });
    const call = answer();
    transport()(post(origin, Buffer.alloc(LARGE, 'a')), call.sink);
    expect(await call.ended).toBe('81920 81920 undefined');
  });

  it('lets go of a large body once the answer has begun', async () => {
    const origin = await engine((request, response) => {
      request.resume().once('end', () => response.write('and so on'));
    });
    const call = answer();
    const send = transport();
    const sent = ((body: Buffer): WeakRef<Buffer> => {
      send(post(origin, body), call.sink);
      return new WeakRef(body);
    })(Buffer.alloc(LARGE, 'a'));
    await call.headed;
    await new Promise((resolve) => setTimeout(resolve, 50));
    v8.setFlagsFromString('--expose-gc');
    vm.runInNewContext('gc')();
    expect(sent.deref()).toBeUndefined();
  });

  it('sends a large body again when a used connection turns out to be dead', async () => {
    let seen = 0;
    const origin = await engine((request, response) => {
      seen += 1;
      if (seen === 2) request.socket.destroy();
      else request.resume().once('end', () => response.end(`answer ${seen}`));
    });
    const send = transport();
    const first = answer();
    send(post(origin, Buffer.alloc(LARGE, 'a')), first.sink);
    expect(await first.ended).toBe('answer 1');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const second = answer();
    send(post(origin, Buffer.alloc(LARGE, 'b')), second.sink);
    expect(await second.ended).toBe('answer 3');
  });
});
