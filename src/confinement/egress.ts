import { type LookupAddress, lookup } from 'node:dns';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { isElsewhere, isPublicAddress, ownAddresses } from '../upstream/outbound-addresses.ts';
import { hostName, isNamed, isOfNames, matchesHost, USUAL_PORTS } from './host-patterns.ts';

/** Hosts by glob, with a port where it is not one of the usual. Denial is stronger; no allowed host at all means every public one. */
export interface EgressRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** One place that a confined program wanted to reach. */
export interface EgressRecord {
  /** The host, or what the program wrote where a host belongs. */
  readonly host: string;
  /** 0 where it named none. */
  readonly port: number;
  /** Why it was refused; absent when it was let through. */
  readonly refused?: string;
}

type Resolve = (host: string) => Promise<readonly string[]>;

const CONNECT_MS = 15_000;
/** Connections that one room may have open. Each takes descriptors of this process, which all callers share. */
const MOST_CONNECTIONS = 512;
const CLIENT_GONE = 'the program closed the connection';

const systemResolve: Resolve = async (host) =>
  await new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses: LookupAddress[]) =>
      error === null ? resolve(addresses.map(({ address }) => address)) : reject(error),
    );
  });

export interface EgressOptions {
  readonly rules: EgressRules;
  readonly onRecord: (record: EgressRecord) => void;
  readonly resolve?: Resolve;
  /** Opens a connection to an address that was judged. */
  readonly dial?: typeof connect;
  /** The addresses of this machine. */
  readonly own?: () => readonly string[];
}

/** Of an answer that is the last one to a request. */
const LEAST_STATUS = 200;
/** No name of a host is longer; a record holds no more of what a program wrote in its place. */
const MOST_HOST = 255;
const NO_HOST = 'names no host that can be reached by this proxy';

/**
 * The only way out of a room: a proxy for CONNECT and for plain HTTP. It resolves names here, judges the address it will dial, and dials
 * that one. It does not look into TLS, so a host that is allowed and serves others by another name is a way to those.
 */
export class Egress {
  readonly #options: Required<EgressOptions>;
  readonly #server: Promise<Server>;
  readonly #open = new Set<Socket>();
  #accepted = 0;

  constructor(options: EgressOptions) {
    this.#options = { resolve: systemResolve, dial: connect, own: ownAddresses, ...options };
    this.#server = this.#make();
  }

  /** Takes a connection that came out of the room. */
  accept(socket: Socket): void {
    this.#track(socket);
    if (this.#accepted >= MOST_CONNECTIONS) {
      const reason = `was not asked for: a run may have ${MOST_CONNECTIONS} connections open`;
      socket.end(answerOf('503 Service Unavailable', this.#refuse('', 0, reason)), () => socket.destroy());
      return;
    }
    this.#accepted += 1;
    socket.once('close', () => {
      this.#accepted -= 1;
    });
    void this.#server.then((server) => server.emit('connection', socket));
  }

  close(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** Node's own client of HTTP is loaded with the first room. */
  async #make(): Promise<Server> {
    const http = await import('node:http');
    const server = http.createServer((request, response) => {
      this.#plain(http.request, request, response).catch(() => response.destroy());
    });
    server.on('connect', (request, socket: Socket, head) => {
      this.#tunnel(request, socket, head).catch(() => socket.destroy());
    });
    // The parser turned down what it read; anything else is a connection that broke.
    server.on('clientError', (error: Error & { code?: string; rawPacket?: Buffer }, socket) => {
      if (error.code?.startsWith('HPE_') !== true || !socket.writable) socket.destroy();
      else socket.end(answerOf('400 Bad Request', this.#refuse(writtenTarget(error.rawPacket), 0, 'is not asked for in valid HTTP')));
    });
    return server;
  }

  /** Records a refusal and says it. */
  #refuse(host: string, port: number, reason: string): string {
    const shown = host.slice(0, MOST_HOST);
    this.#options.onRecord({ host: shown, port, refused: reason });
    return `${shown}:${port} ${reason}`;
  }

  #track(socket: Socket): void {
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    // Either end may vanish; the other is closed with it.
    socket.on('error', () => socket.destroy());
  }

  async #tunnel(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const target = targetOf(`http://${request.url ?? ''}`, 443);
    const way = target === undefined ? this.#refuse(plainText(request.url ?? ''), 0, NO_HOST) : await this.#judge(target);
    if (target === undefined || typeof way === 'string') {
      socket.end(answerOf('403 Forbidden', String(way)));
      return;
    }
    const upstream = this.#options.dial({ host: way.address, port: target.port, timeout: CONNECT_MS });
    this.#track(upstream);
    upstream.once('timeout', () => upstream.destroy());
    upstream.once('connect', () => {
      upstream.setTimeout(0);
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.once('close', () => socket.destroy());
    socket.once('close', () => upstream.destroy(new Error(CLIENT_GONE)));
  }

  async #plain(send: typeof import('node:http').request, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = targetOf(request.url ?? '', 80);
    const way = target === undefined ? this.#refuse(plainText(request.url ?? ''), 0, NO_HOST) : await this.#judge(target);
    if (target === undefined || typeof way === 'string') {
      response.writeHead(403, { 'content-type': 'text/plain', connection: 'close' }).end(`${String(way)}\n`);
      return;
    }
    // Another protocol on the same connection is none that this proxy speaks; CONNECT carries any.
    const { 'proxy-connection': _own, 'proxy-authorization': _secret, upgrade: _upgrade, ...headers } = request.headers;
    const upstream = send({
      host: way.address,
      port: target.port,
      method: request.method ?? 'GET',
      path: target.path,
      headers: { ...headers, host: target.authority, connection: 'close' },
      timeout: CONNECT_MS,
    });
    const fail = (reason: string): void => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { 'content-type': 'text/plain', connection: 'close' }).end(`${reason}\n`);
    };
    upstream.once('response', (answer) => {
      const { statusCode: status = 0 } = answer;
      if (status >= LEAST_STATUS) {
        response.writeHead(status, answer.headers);
        answer.pipe(response);
        return;
      }
      // Node reads statuses that it refuses to write: passed on, such an answer of a host would end this process.
      upstream.destroy();
      fail(`the host answered with the status ${status}, which is none`);
    });
    upstream.once('upgrade', (_answer, socket: Socket) => {
      socket.destroy();
      fail('the host answered in another protocol than HTTP');
    });
    upstream.once('error', (error) => fail(error.message));
    response.once('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  /** The address to dial, or why not. */
  async #judge({ host, port }: Target): Promise<{ address: string } | string> {
    const { rules, resolve, onRecord, own } = this.#options;
    const refused = (reason: string): string => this.#refuse(host, port, reason);
    const denied = refusalOf(rules, { host, port });
    if (denied !== undefined) return refused(denied);
    const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host];
    const [address] = addresses;
    if (address === undefined) return refused('has no address');
    // A rule may name the address of a host that is asked for by its name.
    if (addresses.some((one) => isDenied(rules, one, port))) return refused('is denied by the policy');
    const unnamed = addresses.filter((one) => !isNamed(rules.allow, one, port));
    if (!unnamed.every(isPublicAddress)) return refused('is not on the public internet');
    const here = own();
    if (!unnamed.every((one) => isElsewhere(one, here)))
      return refused('is an address of the machine of the backplane, which no rule names');
    if (isIP(host) !== 0 && rules.deny.some(isOfNames) && !isNamed(rules.allow, host, port))
      return refused('is an address, which may be that of a host that is denied');
    onRecord({ host, port });
    return { address };
  }
}

function answerOf(status: string, words: string): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${words}\n`;
}

/** The second word of a request that is no valid one, or its beginning. */
function writtenTarget(packet: Buffer | undefined): string {
  const [line = ''] = (packet ?? Buffer.alloc(0)).toString('latin1', 0, 2 * MOST_HOST).split(/[\r\n]/, 1);
  const [first = '', second] = line.split(' ');
  return plainText(second ?? first);
}

/** The place that a program wrote, for receipts and answers: without user, path and query, where secrets stand, and in plain characters. */
function plainText(written: string): string {
  const [, scheme = '', rest = ''] = /^([a-z]{1,10}:\/\/)?(.*)$/is.exec(written.slice(0, 2 * MOST_HOST)) ?? [];
  const [authority = ''] = rest.split(/[/?]/, 1);
  const place = `${scheme}${authority.slice(authority.lastIndexOf('@') + 1)}`;
  return place === '' ? '/' : place.replace(/[^\x21-\x7e]/g, '.');
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly authority: string;
}

/** A URL spells addresses in one way. */
function targetOf(url: string, port: number): Target | undefined {
  if (!/^http:\/\//i.test(url) || !URL.canParse(url)) return undefined;
  const { hostname, port: named, pathname, search, host: authority } = new URL(url);
  const host = hostName(hostname.startsWith('[') ? hostname.slice(1, -1) : hostname);
  // The parser leaves out the port that is usual for plain HTTP.
  const asked = named === '' && /:80(?:\/|$)/.test(url.slice('http://'.length)) ? 80 : named === '' ? port : Number(named);
  return host === '' ? undefined : { host, port: asked, path: `${pathname}${search}`, authority };
}

function refusalOf({ allow, deny }: EgressRules, { host, port }: Pick<Target, 'host' | 'port'>): string | undefined {
  if (isDenied({ deny }, host, port)) return 'is denied by the policy';
  if (allow.length === 0) return USUAL_PORTS.includes(port) ? undefined : 'is on a port that no rule names';
  if (allow.some((pattern) => matchesHost(pattern, host, port, 'usual'))) return undefined;
  return allow.some((pattern) => matchesHost(pattern, host, port, 'any'))
    ? 'is on a port that no rule names'
    : 'is not allowed by the policy';
}

function isDenied({ deny }: Pick<EgressRules, 'deny'>, host: string, port: number): boolean {
  return deny.some((pattern) => matchesHost(pattern, host, port, 'any'));
}
