import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AbpError } from '../../contract/errors.ts';
import type { Config } from '../config.ts';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && (address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.'));
}

export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_NAMES.includes(host) || host === '::1' || host.startsWith('127.');
}

/** A request that somebody passed on; the address of the peer is then that of a proxy and says nothing of the caller. */
export function isPassedOn(headers: IncomingHttpHeaders): boolean {
  for (const name in headers) {
    if (name === 'via' || name === 'forwarded' || name === 'x-real-ip' || name.startsWith('x-forwarded-')) return true;
  }
  return false;
}

/** Two readers of a request with several `Host` headers may take different ones; Node takes the first. */
function hasOneHost(raw: readonly string[]): boolean {
  let found = 0;
  for (let at = 0; at < raw.length; at += 2) if (raw[at]?.length === 4 && raw[at]?.toLowerCase() === 'host') found += 1;
  return found <= 1;
}

/** Refuses what a web page of somebody else could send to a server on this machine. */
export type TrustCheck = (request: IncomingMessage) => void;

/**
 * Browsers reach loopback. The Host check stops DNS rebinding, the Origin check stops scripts, and Sec-Fetch-Site stops plain
 * navigations, forms and images, which carry no Origin.
 */
export function trustCheck(config: Config, port: () => number): TrustCheck {
  const { server } = config;
  const configured = server.hosts.map((name) => name.toLowerCase());
  const origins = new Set(server.origins);
  let hosts: Set<string> | undefined;
  const known = (): Set<string> => {
    hosts ??= new Set(
      [...namesOf(server.host.toLowerCase()), ...configured]
        .flatMap((name) => [`${name}:${port()}`, ...(isDefaultPort(port()) ? [name] : [])])
        .concat(configured),
    );
    return hosts;
  };
  return (request) => {
    const host = request.headers.host?.toLowerCase();
    if (host === undefined) throw new AbpError('invalid_request', 'The request has no Host header.');
    if (!hasOneHost(request.rawHeaders)) throw new AbpError('invalid_request', 'The request has several Host headers.');
    if (!server.trust_proxy && !known().has(host)) {
      throw new AbpError('misdirected_request', `The Host "${host}" is not a name of this server.`);
    }
    const { origin } = request.headers;
    if (origin !== undefined && !origins.has(origin) && !isOwnOrigin(origin, host)) {
      throw new AbpError('forbidden', `The web origin ${origin} may not call this server.`);
    }
    if (isFromElsewhere(request) && !(origin !== undefined && origins.has(origin))) {
      throw new AbpError('forbidden', 'A page of another site may not call this server.');
    }
  };
}

/** The one path that a page of another site leads to: the issuer sends a browser back there, and the sealed cookie must fit. */
const RETURN_PATH = /^\/v1\/sign-ins\/callback(?:\?|$)/;

/** Whether a page of another site leads here. */
function isFromElsewhere({ method, url = '', headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== 'cross-site' && site !== 'same-site') return false;
  return !(method === 'GET' && RETURN_PATH.test(url) && headers['sec-fetch-mode'] === 'navigate');
}

function namesOf(host: string): string[] {
  const name = host.includes(':') ? `[${host}]` : host;
  return isLoopbackHost(host) || host === '0.0.0.0' || host === '::' ? [...LOOPBACK_NAMES, name] : [name];
}

function isDefaultPort(port: number): boolean {
  return port === 80 || port === 443;
}

/** Whether a page of this server, as the browser was told its name, is the origin. */
export function isOwnOrigin(origin: string, host: string): boolean {
  return origin.toLowerCase() === `http://${host}` || origin.toLowerCase() === `https://${host}`;
}
