import type { IncomingMessage } from 'node:http';
import { AbpError } from '../../contract/errors.ts';
import type { Principal } from '../auth/principal.ts';
import { isOwnOrigin } from '../door/trust.ts';
import type { Gateway } from '../gateway.ts';
import type { ConsoleSession, ConsoleSessions } from './console-sessions.ts';

const NAME = 'abp_console';

/** Browsers send cookies to every port of a host, so two servers of one machine need two names. */
function cookieName(url: string): string {
  return `${NAME}_${new URL(url).port || 'default'}`;
}

/** The cookie that keeps a browser signed in: no script reads it, no other site sends it. */
export function sessionCookie({ url, config }: Pick<Gateway, 'url' | 'config'>, secret: string, maxAgeS: number): string {
  const secure = url.startsWith('https:') || config.server.trust_proxy ? '; Secure' : '';
  return `${cookieName(url)}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${secure}`;
}

/** The secret in a Cookie header, where there is one. */
export function consoleSecret(url: string, header: string | undefined): string | undefined {
  if (header?.includes(NAME) !== true) return undefined;
  const prefix = `${cookieName(url)}=`;
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
  sessions: ConsoleSessions,
  url: string,
  request: IncomingMessage,
): Principal | undefined | Promise<Principal | undefined> {
  const secret = consoleSecret(url, request.headers.cookie);
  if (secret === undefined) return undefined;
  const { origin, host = '' } = request.headers;
  if (!READING.has(request.method ?? 'GET') && (origin === undefined || !isOwnOrigin(origin, host.toLowerCase()))) {
    throw new AbpError('forbidden', 'A change by the console’s cookie must come from a page of this server.');
  }
  const found = sessions.find(secret);
  return found instanceof Promise ? found.then(principalOf) : principalOf(found);
}

function principalOf(session: ConsoleSession | undefined): Principal | undefined {
  if (session === undefined) return undefined;
  return session.scope === 'all' ? { kind: 'token' } : { kind: 'paired', session: session.id };
}
