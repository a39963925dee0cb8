import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type Logger, pino } from 'pino';
import { LiveRuns } from '../calls/live-runs.ts';
import { AbpError, type ErrorCode } from '../contract/errors.ts';
import { newRunId } from '../contract/run-id.ts';
import { startKeeper } from '../receipts/keeper.ts';
import { openStore } from '../store/database.ts';
import type { Home } from '../store/home.ts';
import { KeyRing } from './auth/key-ring.ts';
import type { Config } from './config.ts';
import { controlPlane } from './control.ts';
import { deploy } from './deployments.ts';
import { renderError } from './errors.ts';
import { FrontDoor } from './front-door.ts';
import type { Gateway } from './gateway.ts';
import { routes } from './routes/index.ts';
import { isLoopbackHost, trustCheck } from './trust.ts';
import { BodyBudget } from './vendor/body.ts';

const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_MS = 30_000;
const REQUEST_MS = 300_000;
const MIB = 1024 * 1024;

export interface ServerOptions {
  readonly config: Config;
  readonly home: Home;
  readonly version: string;
  readonly log?: Logger;
}

export interface RunningServer {
  readonly url: string;
  readonly gateway: Gateway;
  /** Stops taking calls, lets running ones end, and settles every receipt. */
  close(): Promise<void>;
}

/** Opens the home, the database and the port. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, home, version } = options;
  assertSafeBind(config);
  const log = options.log ?? pino({ level: process.env.ABP_LOG ?? 'info' }, pino.destination(2));
  const lock = home.lockServer();
  const databaseUrl = config.database.url;
  const live = new LiveRuns();
  const keeper = startKeeper({
    homePath: home.path,
    journalFolder: home.journalFolder,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    version,
    onStalled: (message) => log.error({ message }, 'receipts are not reaching the database; they stay in the journal'),
    onSettled: (runs) => live.settled(runs),
  });
  const store = await openStore({ home, ...(databaseUrl === undefined ? {} : { url: databaseUrl }) });
  const deployments = deploy(config);
  const gateway: Gateway = {
    config,
    home,
    store,
    keeper,
    live,
    keys: new KeyRing(store, home.token),
    deployments: deployments.byEngine,
    budget: new BodyBudget(config.limits.in_flight_mb * MIB),
    log,
    version,
    url: '',
  };
  const server = await listen(gateway);
  const interrupted = await keeper.ready;
  if (interrupted > 0) log.warn({ interrupted }, 'runs of an earlier process were closed as interrupted');
  home.writeAddress({ url: gateway.url, pid: process.pid });
  return {
    url: gateway.url,
    gateway,
    close: async () => {
      home.removeAddress();
      await closeServer(server);
      await deployments.close();
      await keeper.close();
      await store.close();
      lock.release();
    },
  };
}

/** Beyond loopback everyone can knock: then there must be keys, and nobody may listen in. */
function assertSafeBind(config: Config): void {
  const { host, trust_proxy, cert_file } = config.server;
  if (isLoopbackHost(host)) return;
  if (config.auth.local && !trust_proxy && cert_file === undefined) {
    throw new AbpError(
      'invalid_request',
      `Refusing to listen on ${host} without TLS: set server.cert_file and server.key_file, or server.trust_proxy behind a proxy.`,
    );
  }
  if (!trust_proxy && cert_file === undefined) {
    throw new AbpError('invalid_request', `Refusing to listen on ${host} without TLS or server.trust_proxy.`);
  }
}

async function listen(gateway: Gateway): Promise<http.Server> {
  const { config } = gateway;
  let port = config.server.port;
  const { app, handler } = await controlPlane(gateway, routes);
  const door = new FrontDoor(
    gateway,
    trustCheck(config, () => port),
    handler,
  );
  const server = createServer(config, (request, response) => door.handle(request, response));
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => refuseRaw(gateway, error, socket));
  server.on('close', () => void app.close());
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => reject(listenError(error, config)));
    server.listen({ host: config.server.host, port: config.server.port }, resolve);
  });
  const address = server.address() as AddressInfo; // a TCP server has one once it listens
  port = address.port;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  gateway.url = `${config.server.cert_file === undefined ? 'http' : 'https'}://${host === '0.0.0.0' || host === '[::]' ? '127.0.0.1' : host}:${port}`;
  return server;
}

function createServer(config: Config, listener: http.RequestListener): http.Server {
  const limits = { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, noDelay: true };
  const { cert_file, key_file } = config.server;
  if (cert_file === undefined || key_file === undefined) return http.createServer(limits, listener);
  return https.createServer({ ...limits, cert: readFileSync(cert_file), key: readFileSync(key_file) }, listener);
}

function listenError(error: Error & { code?: string }, config: Config): AbpError {
  const where = `${config.server.host}:${config.server.port}`;
  if (error.code === 'EADDRINUSE')
    return new AbpError('conflict', `${where} is taken by another program; choose another port with --port or ABP_PORT.`);
  return new AbpError('invalid_request', `Cannot listen on ${where}: ${error.message}`);
}

const PARSE_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** What the HTTP parser refuses has no request object; it still gets a run id and a readable body. */
function refuseRaw(gateway: Gateway, error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const code = PARSE_ERRORS[error.code ?? ''] ?? 'invalid_request';
  const runId = newRunId();
  const message =
    code === 'invalid_request' ? `The request is not valid HTTP: ${error.message}` : 'The request was refused before it was read.';
  const { status, body } = renderError(new AbpError(code, message), { runId, url: gateway.url });
  const text = JSON.stringify(body);
  const reason = http.STATUS_CODES[status] ?? '';
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nX-ABP-Run-Id: ${runId}\r\nConnection: close\r\n\r\n${text}`,
  );
}

async function closeServer(server: http.Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 5000).unref();
  });
}
