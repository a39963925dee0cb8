import type { z } from 'zod';
import { isoTime } from '../../../base/clock.ts';
import { AbpError } from '../../../contract/errors.ts';
import { BrowserList, BrowserParams, NewPairing, Pairing, SessionInfo, SignIn } from '../../api/console.ts';
import { may } from '../../auth/access.ts';
import type { Permission } from '../../auth/permissions.ts';
import { keyIdOf, type Principal } from '../../auth/principal.ts';
import { consoleSecret, principalOf, sessionCookie } from '../../console/console-cookie.ts';
import type { ConsoleSession } from '../../console/console-sessions.ts';
import type { Gateway } from '../../gateway.ts';
import { recordingFor } from '../../recording.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';

const LABEL = 200;
const MIB = 1024 * 1024;
const ANONYMOUS: Principal = { kind: 'anonymous' };
type Info = z.infer<typeof SessionInfo>;

/** The link that lets one browser in. The code is in the fragment: it reaches no server, no log and no referrer. */
export function consoleLink(
  gateway: Gateway,
  scope: ConsoleSession['scope'],
  ttlMs: number,
  user?: string,
): { url: string; code: string; expiresAt: number } {
  const { code, expiresAt } = gateway.browsers.sessions.invite(scope, ttlMs, user);
  return { url: `${gateway.url}/${scope === 'answer' ? 'inbox' : ''}#code=${code}`, code, expiresAt };
}

function signInPath({ signIns }: Gateway): string | null {
  return signIns === undefined ? null : '/v1/sign-ins/start';
}

/** The state of the server that the frame of every page shows, as far as this caller may know it. */
function frameOf({ browsers, config, keeper }: Gateway, principal: Principal = ANONYMOUS): Pick<Info, 'recording' | 'web_push'> {
  const maxBytes = config.recording.max_mb * MIB;
  const recording = { keeps: recordingFor(config, principal), used_bytes: keeper.recordedBytes ?? null, max_bytes: maxBytes };
  return { recording: principal.kind === 'anonymous' ? null : recording, web_push: browsers.notes !== undefined };
}

async function sessionOf(gateway: Gateway, cookie: string | undefined): Promise<ConsoleSession | undefined> {
  const secret = consoleSecret(gateway.url, cookie);
  return secret === undefined ? undefined : await gateway.browsers.sessions.find(secret);
}

/** The console offers only what its user may do: each offer with the permission that it takes. */
const OFFERS: Readonly<Record<string, Permission>> = {
  read: 'receipts',
  answer: 'runs.answer',
  run: 'runs',
  settings: 'keys',
  agents: 'agents',
};

/** Scopes in the words of the console: what it may offer to this caller. */
function scopesOf(principal: Principal): string[] {
  return Object.keys(OFFERS).filter((offer) => may(principal, OFFERS[offer] ?? 'public'));
}

export const consoleRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/console/session',
    summary: 'Signs a browser in with the code of a one-time link.',
    body: SignIn,
    response: SessionInfo,
    handle: async ({ gateway, body, headers }) => {
      const label = String(headers['user-agent'] ?? 'a browser').slice(0, LABEL);
      const { secret, session } = await gateway.browsers.sessions.redeem(body.code, label);
      const full = session.scope === 'all';
      const info = {
        principal: full ? 'console' : 'paired',
        scopes: scopesOf(principalOf(session, gateway.people) ?? ANONYMOUS),
        expires_at: isoTime(session.expiresAt),
        user: session.user ?? null,
        sign_in: signInPath(gateway),
        ...frameOf(gateway, principalOf(session, gateway.people)),
      };
      const seconds = Math.round((session.expiresAt - Date.now()) / 1000);
      return new Reply(200, info, { 'set-cookie': sessionCookie(gateway, secret, seconds), 'cache-control': 'no-store' });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/console/session',
    summary: 'Who this browser is here, and what it may do.',
    response: SessionInfo,
    handle: async ({ gateway, principal, headers }) => {
      const session = await sessionOf(gateway, headers.cookie);
      const name = session !== undefined && principal.kind === 'token' ? 'console' : principal.kind;
      const expiresAt = principal.kind === 'key' ? principal.key.expiresAt : (session?.expiresAt ?? null);
      return {
        principal: name,
        scopes: scopesOf(principal),
        expires_at: expiresAt === null ? null : isoTime(expiresAt),
        user: session?.user ?? gateway.people.ownerOf(keyIdOf(principal) ?? '').user,
        sign_in: signInPath(gateway),
        ...frameOf(gateway, principal),
      };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/console/session',
    summary: 'Signs this browser out.',
    handle: async ({ gateway, principal, headers }) => {
      const session = await sessionOf(gateway, headers.cookie);
      if (principal.kind === 'key' && principal.key.signIn !== null) await gateway.signIns?.end(principal.key.signIn);
      if (session !== undefined) await gateway.browsers.sessions.revoke(session.id);
      return new Reply(204, undefined, { 'set-cookie': sessionCookie(gateway, '', 0) });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/console/pairings',
    summary: 'A code that lets one more browser in, once.',
    audit: { action: 'browser.pair' },
    body: NewPairing,
    response: Pairing,
    handle: ({ gateway, body }) => {
      const [scope = 'answer'] = body.scopes;
      if (body.user !== undefined && scope === 'all') {
        throw new AbpError('invalid_request', 'A browser of one user reads and answers; the scope all is everybody’s.');
      }
      // A user who does not exist is an error of the caller.
      const user = body.user === undefined ? undefined : gateway.people.user(body.user).id;
      const { url, code, expiresAt } = consoleLink(gateway, scope, body.ttl_s * 1000, user);
      return new Reply(201, { code, url, expires_at: isoTime(expiresAt) });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/console/browsers',
    summary: 'Browsers that are signed in, newest first.',
    response: BrowserList,
    handle: async ({ gateway, headers }) => {
      const own = await sessionOf(gateway, headers.cookie);
      const sessions = (await gateway.browsers.sessions.list()).toSorted((a, b) => b.createdAt - a.createdAt);
      const items = sessions.map(({ id, scope, user, label, createdAt, expiresAt }) => ({
        id,
        scopes: [scope],
        user: user ?? null,
        label,
        current: id === own?.id,
        created_at: isoTime(createdAt),
        expires_at: isoTime(expiresAt),
      }));
      return { items, total: items.length };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/console/browsers/{id}',
    summary: 'Signs a browser out.',
    audit: { action: 'browser.revoke' },
    params: BrowserParams,
    handle: async ({ gateway, params }) => {
      if (!(await gateway.browsers.sessions.revoke(params.id)))
        throw new AbpError('not_found', `There is no signed-in browser ${params.id}.`);
      return new Reply(204, undefined);
    },
  }),
];
