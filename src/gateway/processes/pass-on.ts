import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeHttp } from '../../base/builtin/http.ts';
import { AbpError } from '../../contract/errors.ts';
import { readAddress } from '../../home/address.ts';

/** A first process that was killed answers again after a second or two. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 100;

/**
 * Headers that belong to one connection, and those by which a browser tells where a page comes from: the process that was called has
 * looked at them, and the first process has another name.
 */
const NOT_PASSED = /^(?:host|origin|connection|keep-alive|proxy-connection|transfer-encoding|te|trailer|upgrade|sec-fetch-.*)$/i;

/** Hands a request over to the first process and its answer back. */
export async function passOn(
  installation: string,
  { request, response, local }: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly local: boolean },
): Promise<void> {
  const url = request.url ?? '/';
  const socket = await connected(installation);
  await new Promise<void>((resolve, reject) => {
    const onward = nodeHttp.request({
      createConnection: () => socket,
      method: request.method,
      path: url,
      headers: passedHeaders(request.rawHeaders, { host: `127.0.0.1:${socket.remotePort}`, local }),
    });
    onward.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, pairs(answer.rawHeaders).flat());
      response.flushHeaders();
      answer.pipe(response);
      // An answer that breaks off must not look whole.
      answer.once('close', () => (answer.complete ? undefined : response.destroy()));
      resolve();
    });
    onward.once('error', (error) => (response.headersSent ? response.destroy() : reject(gone(error))));
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  });
}

/** Hands a connection over that wants to leave HTTP. */
export async function passUpgradeOn(
  installation: string,
  { request, socket, head }: { request: IncomingMessage; socket: Socket; head: Buffer },
): Promise<void> {
  const onward = await connected(installation);
  const kept = pairs(request.rawHeaders, /^(?:host|origin|sec-fetch-.*)$/i);
  const lines = [['Host', `127.0.0.1:${onward.remotePort}`], ['X-Forwarded-For', socket.remoteAddress ?? ''], ...kept].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  onward.write(`${request.method} ${request.url} HTTP/1.1\r\n${lines.join('')}\r\n`);
  onward.write(head);
  onward.on('error', () => socket.destroy());
  socket.on('error', () => onward.destroy());
  socket.once('close', () => onward.destroy());
  onward.once('close', () => socket.destroy());
  socket.pipe(onward).pipe(socket);
}

/** A connection to the door of the first process, which may be on its way back. */
async function connected(installation: string): Promise<Socket> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const address = readAddress(join(installation, 'address'));
    const socket = address === undefined ? undefined : await connection(Number(new URL(address.url).port));
    if (socket !== undefined) return socket;
    if (performance.now() > deadline) throw gone(undefined);
    await sleep(LOOK_MS);
  }
}

async function connection(port: number): Promise<Socket | undefined> {
  return await new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

function gone(error: Error | undefined): AbpError {
  const reason = error === undefined ? '' : ` (${error.message})`;
  return new AbpError('overloaded', `The first process of this server, which answers such requests, is being started${reason}; try again.`);
}

/** Who is not on this machine does not become so by coming through us. */
function passedHeaders(raw: readonly string[], { host, local }: { readonly host: string; readonly local: boolean }): string[] {
  return ['Host', host, ...(local ? [] : ['X-Forwarded-For', 'another process of this server']), ...pairs(raw, NOT_PASSED).flat()];
}

const HOP = /^(?:connection|keep-alive|transfer-encoding)$/i;

function pairs(raw: readonly string[], without: RegExp = HOP): [string, string][] {
  const all: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) if (!without.test(raw[at] ?? '')) all.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return all;
}
