import type { IncomingMessage } from 'node:http';
import { AbpError } from '../../contract/errors.ts';
import type { KnownKey } from '../auth/key-ring.ts';
import { isOurSecret, type Principal } from '../auth/principal.ts';
import { isOwnOrigin } from '../door/trust.ts';
import type { Gateway } from '../gateway.ts';
import type { People } from '../people/people.ts';
import type { ConsoleSession } from './console-sessions.ts';

const NAME = 'abp_console';

/** Browsers send cookies to every port of a host, so two servers of one machine need two names. */
function cookieName(url: string, name = NAME): string {
  return `${name}_${new URL(url).port || 'default'}`;
}

function secureMark(url: string, { server }: Gateway['config']): string {
  return url.startsWith('https:') || server.trust_proxy ? '; Secure' : '';
}

/** The cookie that keeps a browser signed in: no script reads it, no other site sends it. */
export function sessionCookie({ url, config }: Pick<Gateway, 'url' | 'config'>, secret: string, maxAgeS: number): string {
  return `${cookieName(url)}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${secureMark(url, config)}`;
}

const PENDING = 'abp_sign_in';

/** The cookie that a browser brings back from the issuer. The way back begins on the issuer's page, so it must be sent on navigations. */
export function pendingCookie({ url, config }: Pick<Gateway, 'url' | 'config'>, sealed: string, maxAgeS: number): string {
  return `${cookieName(url, PENDING)}=${sealed}; Path=/v1/sign-ins; HttpOnly; SameSite=Lax; Max-Age=${maxAgeS}${secureMark(url, config)}`;
}

/** The sealed secret that a browser kept while its user signed in with the issuer. */
export function pendingSecret(url: string, header: string | undefined): string | undefined {
  return cookieIn(cookieName(url, PENDING), header);
}

/** The secret in a Cookie header, where there is one. */
export function consoleSecret(url: string, header: string | undefined): string | undefined {
  return cookieIn(cookieName(url), header);
}

function cookieIn(name: string, header: string | undefined): string | undefined {
  if (header?.includes(name) !== true) return undefined;
  const prefix = `${name}=`;
  const pair = header
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  return pair?.slice(prefix.length) || undefined;
}

const READING = new Set(['GET', 'HEAD']);

/**
 * The browser that asks, where it is signed in. Browsers say in every request that changes something from which page it comes: one
 * that does not come from our own page is refused, although the cookie came along.
 */
export function consolePrincipal(
  { browsers, keys, people, url }: Pick<Gateway, 'browsers' | 'keys' | 'people' | 'url'>,
  request: IncomingMessage,
): Principal | undefined | Promise<Principal | undefined> {
  const secret = consoleSecret(url, request.headers.cookie);
  if (secret === undefined) return undefined;
  const { origin, host = '' } = request.headers;
  if (!READING.has(request.method ?? 'GET') && (origin === undefined || !isOwnOrigin(origin, host.toLowerCase()))) {
    throw new AbpError('forbidden', 'A change by the console’s cookie must come from a page of this server.');
  }
  if (isOurSecret(secret)) {
    const known = keys.find(secret);
    return known instanceof Promise ? known.then(userOf) : userOf(known);
  }
  const found = browsers.sessions.find(secret);
  return found instanceof Promise ? found.then((session) => principalOf(session, people)) : principalOf(found, people);
}

/** Somebody who signed in with the issuer. */
function userOf(known: KnownKey | undefined): Principal | undefined {
  return known === undefined ? undefined : { kind: 'key', ...known };
}

/** The principal of a browser that is signed in. */
export function principalOf(session: ConsoleSession | undefined, people: People): Principal | undefined {
  if (session === undefined) return undefined;
  const { id, scope, user } = session;
  if (scope === 'all') return { kind: 'token' };
  return { kind: 'paired', session: id, ...(user === undefined ? {} : { user: { id: user, keys: people.keysOf('user', user) } }) };
}
