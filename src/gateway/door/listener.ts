import type http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeHttp } from '../../base/builtin/http.ts';
import { nodeHttps } from '../../base/builtin/tls.ts';
import { AbpError, type ErrorCode } from '../../contract/errors.ts';
import { newRunId } from '../../contract/run-id.ts';
import type { Config } from '../config.ts';
import type { Gateway } from '../gateway.ts';
import { routes } from '../routes/index.ts';
import { type Certificate, CertificateWatch, certificateFiles, readCertificate, stateOf } from './certificate.ts';
import { Connections } from './connections.ts';
import { controlPlane } from './control.ts';
import { renderError } from './errors.ts';
import { FrontDoor, isSplice } from './front-door.ts';
import { isLoopbackHost, trustCheck } from './trust.ts';

const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_MS = 30_000;
const REQUEST_MS = 300_000;
/** Below the 30 s after which container platforms kill. */
const DRAIN_MS = 25_000;
const SWEEP_MS = 100;

/** The port this server answers on. */
export interface Listener {
  readonly url: string;
  /** SHA-256 of its certificate, where it speaks TLS. */
  readonly certificate: string | undefined;
  /** From now on new files of the certificate are taken as they come, and told; returns how to stop that. */
  watchCertificate(onChange: (fingerprint: string) => void): () => void;
  /** Takes no more calls and lets the running ones end. */
  close(): Promise<void>;
}

/** Beyond loopback everyone can knock: callers from there need a key in any case, and nobody may listen in. */
export function assertSafeBind(config: Config): void {
  const { host, trust_proxy, cert_file, key_file } = config.server;
  if ((cert_file === undefined) !== (key_file === undefined)) {
    throw new AbpError('invalid_request', 'TLS needs both server.cert_file and server.key_file.');
  }
  if (isLoopbackHost(host) || trust_proxy || cert_file !== undefined) return;
  throw new AbpError(
    'invalid_request',
    `Refusing to listen on ${host} without TLS: set server.cert_file and server.key_file, or server.trust_proxy behind a proxy.`,
  );
}

/** Connections that may wait to be accepted; the system lowers it to what it allows. A full queue resets callers who come all at once. */
const BACKLOG = 4096;

/** Systems that spread connections over the processes that listen on one port; elsewhere processes share one queue of connections. */
const SPREADS_CONNECTIONS = process.platform === 'linux' || process.platform === 'freebsd';

/** Opens the port, or a door that is for this process alone where several processes share the port; `gateway.url` is where. */
export async function listen(gateway: Gateway, own?: Config): Promise<Listener> {
  const config = own ?? gateway.config;
  let port = config.server.port;
  const trust = trustCheck(config, () => port);
  const connections = new Connections(config.limits.connections);
  const door = new FrontDoor(gateway, trust, controlPlane(gateway, routes), connections);
  if (own !== undefined) door.answerAll();
  const onRequest: http.RequestListener = (request, response) => door.handle(request, response);
  const { server, tls } = createServer(config, onRequest);
  if (tls !== undefined) warnOfEnd(gateway, tls.certificate);
  const rooms = roomServer(gateway, onRequest);
  gateway.takeConnection = (run, socket) => {
    door.confine(socket, run);
    connections.add(socket);
    if (socket.destroyed) return;
    rooms.emit('connection', socket);
  };
  countConnections(server, connections, tls !== undefined);
  // An expectation nobody knows may be ignored (RFC 9110 §10.1.1); Node would answer it without a run id.
  server.on('checkExpectation', onRequest);
  if (CHOOSES_UPGRADES) server.on('upgrade', (request, socket: Socket, head) => door.upgrade(request, socket, head));
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => refuseRaw(gateway, error, socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => reject(listenError(error, config.server)));
    const { host, port: wanted } = config.server;
    const shares = own === undefined && gateway.siblings !== undefined && SPREADS_CONNECTIONS;
    server.listen({ host, port: wanted, backlog: BACKLOG, exclusive: own !== undefined, reusePort: shares }, resolve);
  });
  const address = server.address() as AddressInfo; // a TCP server has one once it listens
  port = address.port;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const shown = host === '0.0.0.0' || host === '[::]' ? '127.0.0.1' : host;
  return {
    url: `${config.server.cert_file === undefined ? 'http' : 'https'}://${shown}:${port}`,
    certificate: tls?.certificate.fingerprint,
    watchCertificate: (onChange) => tls?.watch(gateway, onChange) ?? (() => undefined),
    close: async () => {
      if (gateway.draining) await farewell(server);
      await closeServer(server, door, () => gateway.calls.live.cut()).finally(() => rooms.closeAllConnections());
    },
  };
}

/** With TLS, requests come on another object than the connection that was accepted. */
function countConnections(server: http.Server, connections: Connections, overTls: boolean): void {
  if (!overTls) {
    server.on('connection', (socket: Socket) => connections.add(socket));
    return;
  }
  server.on('connection', (socket: Socket) => connections.addOuter(socket));
  server.on('secureConnection', (socket: Socket) => connections.addInner(socket));
}

/**
 * A Node that does not ask whether to upgrade hands over every request with such a header, also those of HTTP clients that only offer
 * HTTP/2. There, WebSockets are refused like any other request.
 */
const CHOOSES_UPGRADES = (() => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 9) || (major === 22 && minor >= 21);
})();

/** Speaks plain HTTP with programs in rooms. It has no port: their connections are handed to it. */
function roomServer(gateway: Gateway, onRequest: http.RequestListener): http.Server {
  const server = nodeHttp.createServer(limits(), onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => refuseRaw(gateway, error, socket));
  return server;
}

function limits(): http.ServerOptions {
  return {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    noDelay: true,
    // The front door refuses a request without Host itself: with a run id and a body.
    requireHostHeader: false,
    shouldUpgradeCallback: isSplice,
  };
}

/** The TLS of a server: its certificate, and how to follow its files. */
interface Tls {
  readonly certificate: Certificate;
  watch(gateway: Gateway, onChange: (fingerprint: string) => void): () => void;
}

function createServer(config: Config, listener: http.RequestListener): { readonly server: http.Server; readonly tls?: Tls } {
  const files = certificateFiles(config);
  if (files === undefined) return { server: nodeHttp.createServer(limits(), listener) };
  const seen = stateOf(files);
  const certificate = readCertificate(files);
  const server = nodeHttps().createServer({ ...limits(), handshakeTimeout: HEADERS_MS, ...certificate.options }, listener);
  const watch: Tls['watch'] = (gateway, onChange) => {
    const watching = new CertificateWatch(server, files, seen, {
      onChange: (changed) => {
        gateway.log.info(
          { fingerprint: changed.fingerprint, valid_to: changed.validTo },
          'new connections get the certificate that was put there',
        );
        warnOfEnd(gateway, changed);
        onChange(changed.fingerprint);
      },
      onFault: (error) =>
        gateway.log.error({ error }, 'the files of the certificate have changed and cannot be used; the one before stays'),
    });
    return () => watching.stop();
  };
  return { server, tls: { certificate, watch } };
}

function warnOfEnd({ log }: Gateway, { validTo }: Certificate): void {
  if (validTo.getTime() < Date.now()) log.warn({ valid_to: validTo }, 'the certificate of this server has expired; callers will refuse it');
}

export function listenError(error: Error & { code?: string }, { host, port }: Pick<Config['server'], 'host' | 'port'>): AbpError {
  const where = `${host}:${port}`;
  if (error.code === 'EADDRINUSE')
    return new AbpError(
      'conflict',
      `port ${port} on ${host} is taken by another program`,
      { host, port },
      `Stop that program, or choose another port: ABP_PORT=${port + 1} npm start, or abp serve --port ${port + 1}.`,
    );
  return new AbpError(
    'invalid_request',
    `Cannot listen on ${where}: ${error.message}`,
    {},
    'Choose an address and a port of this machine with --host and --port (ABP_HOST, ABP_PORT).',
  );
}

const PARSE_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** A request that the HTTP parser refuses has no request object; it still gets a run id and a readable body. */
function refuseRaw(gateway: Gateway, error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const code = PARSE_ERRORS[error.code ?? ''] ?? 'invalid_request';
  const runId = newRunId();
  const message =
    code === 'invalid_request' ? `The request is not valid HTTP: ${error.message}` : 'The request was refused before it was read.';
  const { status, body } = renderError(new AbpError(code, message), { runId, url: gateway.url });
  const text = JSON.stringify(body);
  const reason = nodeHttp.STATUS_CODES[status] ?? '';
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nX-ABP-Run-Id: ${runId}\r\nConnection: close\r\n\r\n${text}`,
  );
}

/** Whether an answer is under way on the socket; a second one would land in its middle. Node's own default handler looks at the same field. */
function isAnswering(socket: Socket): boolean {
  return '_httpMessage' in socket && socket._httpMessage !== null && socket._httpMessage !== undefined;
}

/** How long callers may still ask over connections that they have kept, once the port takes no new ones. */
const FAREWELL_MS = 500;

/**
 * Takes no new connections, and answers what comes over the kept ones as the last request of each. Node's own `close` ends those that are
 * idle at once: a caller whose request is on its way then sees a broken connection, and another one when it tries again.
 */
async function farewell(server: http.Server): Promise<void> {
  const closed = new Promise<void>((resolve) => net.Server.prototype.close.call(server, () => resolve()));
  await Promise.race([closed, sleep(FAREWELL_MS)]);
}

async function closeServer(server: http.Server, door: FrontDoor, onCut: () => void): Promise<void> {
  await new Promise<void>((resolve) => {
    // A connection that was busy when the server closed is kept alive by Node once it is idle.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    const deadline = setTimeout(() => {
      onCut();
      server.closeAllConnections();
    }, DRAIN_MS);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
    door.close();
  });
}
