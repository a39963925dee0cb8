import { request } from 'undici';
import { packageVersion } from '../../base/package-version.ts';
import { openHome } from '../../home/home.ts';
import { clientOf, type ServerClient } from '../client.ts';
import type { Context } from '../command.ts';
import { withConfig } from '../config.ts';

const ANSWER_MS = 900_000;

/** An answer with its bytes. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

interface RawRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** The server of a home: its control routes as JSON, and any path as bytes. */
export interface HomeServer {
  readonly client: ServerClient;
  send(request: RawRequest): Promise<RawAnswer>;
}

/** Works with the home's live server or, where none runs, with one that lives as long as the work. */
export async function withServer<T>({ homePath, configPath, io }: Context, work: (server: HomeServer) => Promise<T>): Promise<T> {
  const home = openHome({ path: homePath });
  const address = home.readAddress();
  if (address !== undefined) return await work(serverAt(address.url, address.pid, home.token));
  const { loadConfig } = await import('../../gateway/config.ts');
  const { startServer } = await import('../../gateway/server.ts');
  const { pino } = await import('pino');
  const { config } = await withConfig(() => loadConfig({ env: io.env, ...(configPath === undefined ? {} : { path: configPath }) }));
  const server = await startServer({
    config: { ...config, server: { ...config.server, host: '127.0.0.1', port: 0 } },
    home,
    version: packageVersion(),
    log: pino({ level: 'silent' }),
  });
  try {
    return await work(serverAt(server.url, process.pid, home.token));
  } finally {
    await server.close();
  }
}

function serverAt(url: string, pid: number, token: string): HomeServer {
  return {
    client: clientOf({ url, pid }, token),
    send: async ({ method, path, headers, body }) => {
      const answer = await request(`${url}${path}`, {
        method,
        // One call per process: a kept connection would only hold the process open.
        reset: true,
        headersTimeout: ANSWER_MS,
        bodyTimeout: ANSWER_MS,
        headers: [...headers, 'x-abp-key', token],
        ...(method === 'POST' && { body }),
      });
      return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) };
    },
  };
}
