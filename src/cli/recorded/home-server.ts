import { buffer } from 'node:stream/consumers';
import { nodeFetch } from '../../base/node-fetch.ts';
import { packageVersion } from '../../base/own-files.ts';
import { openHome } from '../../home/home.ts';
import { warnOfOtherDatabase } from '../backup/database-in-use.ts';
import { clientOf, type ServerClient, type ServingServer, serverOf } from '../client.ts';
import type { Context } from '../command.ts';
import { withConfig } from '../config.ts';

const ANSWER_MS = 900_000;

/** An answer with its bytes. */
export interface RawAnswer {
  readonly status: number;
  /** Name and value in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

interface RawRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** The server that the commands of a home go to: its control routes as JSON, and any path as bytes. */
export interface HomeServer {
  readonly client: ServerClient;
  send(request: RawRequest): Promise<RawAnswer>;
}

/** Works with the server that the commands of the home go to or, where there is none, with one that lives as long as the work. */
export async function withServer<T>({ homePath, configPath, io, output }: Context, work: (server: HomeServer) => Promise<T>): Promise<T> {
  const home = openHome({ path: homePath });
  const serving = serverOf(home);
  if (serving !== undefined) return await work(serverAt(serving));
  const { loadConfig } = await import('../../gateway/config.ts');
  const { startServer } = await import('../../gateway/server.ts');
  const { pino } = await import('pino');
  const { config } = await withConfig(() =>
    loadConfig({ env: io.env, homePath, ...(configPath === undefined ? {} : { path: configPath }) }),
  );
  warnOfOtherDatabase({ io, output }, home.path, config.database.url);
  const server = await startServer({
    config: { ...config, server: { ...config.server, host: '127.0.0.1', port: 0 } },
    home,
    version: packageVersion(),
    log: pino({ level: 'silent' }),
  });
  try {
    return await work(serverAt({ address: { url: server.url, pid: process.pid }, secret: home.token }));
  } finally {
    await server.close();
  }
}

function serverAt({ address, secret }: ServingServer): HomeServer {
  const { url } = address;
  return {
    client: clientOf(address, secret),
    send: async ({ method, path, headers, body }) => {
      const answer = await nodeFetch(`${url}${path}`, {
        method,
        answerMs: ANSWER_MS,
        headers: { ...byName(headers), 'x-abp-key': secret },
        ...(method === 'POST' && { body }),
      });
      return { status: answer.status, headers: answer.rawHeaders, body: await buffer(answer.body) };
    },
  };
}

/** Headers by name; recorded ones stand in a list, name and value in turn. */
function byName(headers: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2);
    found[name] = found[name] === undefined ? value : `${found[name]}, ${value}`;
  }
  return found;
}
