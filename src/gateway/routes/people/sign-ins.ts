import { isoTime } from '../../../base/clock.ts';
import { AbpError } from '../../../contract/errors.ts';
import {
  CallbackQuery,
  CurrentCaller,
  DeviceCode,
  DevicePending,
  DeviceQuestion,
  NewDevice,
  SignedInView,
  SignInList,
  SignInParams,
  StartQuery,
} from '../../api/people.ts';
import { may } from '../../auth/access.ts';
import { PERMISSION_NAMES } from '../../auth/permissions.ts';
import { keyIdOf, type Principal } from '../../auth/principal.ts';
import { pendingCookie, pendingSecret, sessionCookie } from '../../console/console-cookie.ts';
import type { Gateway } from '../../gateway.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';
import { openPending, sealPending } from '../../sign-in/pending.ts';
import { returnPage } from '../../sign-in/return-page.ts';
import type { SignIns } from '../../sign-in/sign-ins.ts';

const BROWSER = 'sign-in of a browser';
const DEVICE = 'sign-in of a command';
/** How long somebody may take at the issuer. */
const PENDING_MS = 10 * 60_000;
const LABEL = 200;

function signInsOf({ signIns }: Gateway): SignIns {
  if (signIns !== undefined) return signIns;
  throw new AbpError('not_found', 'Nobody signs in here: this server has no [oidc] in its configuration.', { section: 'oidc' });
}

/** Where the issuer sends browsers back to. */
function callbackOf({ config, url }: Gateway): string {
  return `${(config.oidc?.url ?? url).replace(/\/$/, '')}/v1/sign-ins/callback`;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const ofBrowsers = [
  defineRoute({
    method: 'GET',
    path: '/v1/sign-ins/start',
    summary: 'Sends a browser to the issuer to sign in (authorization code with PKCE).',
    query: StartQuery,
    handle: async ({ gateway, query }) => {
      const { url, pending } = await signInsOf(gateway).issuer.begin(callbackOf(gateway));
      const members = { state: pending.state, nonce: pending.nonce, verifier: pending.verifier, returnTo: query.return_to };
      const sealed = sealPending(gateway.store, BROWSER, members, Date.now() + PENDING_MS);
      const cookie = pendingCookie(gateway, sealed, PENDING_MS / 1000);
      return new Reply(303, undefined, { location: url.href, 'set-cookie': cookie, 'cache-control': 'no-store' });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/sign-ins/callback',
    summary: 'Where the issuer sends a browser back to. It is signed in from then on, by a cookie.',
    query: CallbackQuery,
    handle: async ({ gateway, query, headers }) => {
      const gone = pendingCookie(gateway, '', 0);
      try {
        const signIns = signInsOf(gateway);
        const pending = openPending(gateway.store, BROWSER, pendingSecret(gateway.url, headers.cookie) ?? '');
        if (pending === undefined) throw new AbpError('unauthenticated', 'This browser did not begin to sign in here, or took too long.');
        const address = new URL(callbackOf(gateway));
        for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
        const { state, nonce, verifier, returnTo } = pending;
        const person = await signIns.issuer.finish(address, { state: text(state), nonce: text(nonce), verifier: text(verifier) });
        const label = String(headers['user-agent'] ?? 'a browser').slice(0, LABEL);
        const { secret, user, row } = await signIns.admit(person, 'browser', label);
        const seconds = Math.round((row.expires_at - Date.now()) / 1000);
        return returnPage({ to: text(returnTo), name: user.name }, [sessionCookie(gateway, secret, seconds), gone]);
      } catch (error) {
        if (!AbpError.is(error)) throw error;
        return returnPage({ error }, [gone]);
      }
    },
  }),
];

const ofCommands = [
  defineRoute({
    method: 'POST',
    path: '/v1/sign-ins/device',
    summary: 'A code that somebody confirms in a browser, to sign a command line in (device authorization).',
    body: NewDevice,
    response: DeviceCode,
    handle: async ({ gateway, body }) => {
      const begun = await signInsOf(gateway).issuer.beginDevice();
      const members = { code: begun.deviceCode, label: body.label };
      return {
        device: sealPending(gateway.store, DEVICE, members, Date.now() + begun.expiresIn * 1000),
        user_code: begun.userCode,
        verification_uri: begun.verificationUri,
        verification_uri_complete: begun.verificationUriComplete,
        expires_in_s: begun.expiresIn,
        interval_s: begun.interval,
      };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/sign-ins/device/token',
    summary: 'The secret of a command line whose code was confirmed; 202 while nobody has.',
    body: DeviceQuestion,
    response: SignedInView,
    accepted: DevicePending,
    handle: async ({ gateway, body }) => {
      const pending = openPending(gateway.store, DEVICE, body.device);
      if (pending === undefined) throw new AbpError('unauthenticated', 'The code is too old or is none of this server’s; begin again.');
      const signIns = signInsOf(gateway);
      const person = await signIns.issuer.pollDevice(text(pending.code));
      if (typeof person === 'string') return new Reply(202, { status: 'pending', slow_down: person === 'slow_down' });
      const { secret, user, row } = await signIns.admit(person, 'command', text(pending.label));
      const { id, name, role = null } = user;
      const view = { status: 'signed_in', secret, user: id, name, role, expires_at: isoTime(row.expires_at) };
      return new Reply(200, view, { 'cache-control': 'no-store' });
    },
  }),
];

/** The user whose sign-ins the caller may see and end; undefined: everybody's. */
function userOf({ people }: Gateway, principal: Principal): string | undefined {
  if (may(principal, 'people')) return undefined;
  return people.ownerOf(keyIdOf(principal) ?? '').user ?? '';
}

function currentCaller({ people }: Gateway, principal: Principal): object {
  const owner = people.ownerOf(keyIdOf(principal) ?? '');
  const key = principal.kind === 'key' ? principal : undefined;
  const expiresAt = key?.key.expiresAt ?? null;
  return {
    principal: principal.kind,
    sign_in: key?.key.signIn ?? null,
    key: key?.key.id ?? null,
    user: owner.user,
    service: owner.service,
    teams: [...people.teamsOf(key?.key.id ?? '')],
    role: principal.kind === 'token' ? 'admin' : (key?.role ?? null),
    permissions: PERMISSION_NAMES.filter((permission) => may(principal, permission)),
    expires_at: expiresAt === null ? null : isoTime(expiresAt),
  };
}

export const signInRoutes = [
  ...ofBrowsers,
  ...ofCommands,
  defineRoute({
    method: 'GET',
    path: '/v1/sign-ins',
    summary: 'Who is signed in where: one’s own sign-ins, everybody’s for an admin.',
    response: SignInList,
    handle: async ({ gateway, principal }) => {
      const all = await gateway.signIns?.list(userOf(gateway, principal));
      const items = (all ?? []).map(({ row, user }) => ({
        id: row.id,
        user,
        via: row.kind,
        label: row.label,
        created_at: isoTime(row.created_at),
        expires_at: isoTime(row.expires_at),
      }));
      return { items };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/sign-ins/{id}',
    summary: 'Ends a sign-in, wherever it is; `current` ends the one that asks.',
    audit: { action: 'sign_in.end' },
    params: SignInParams,
    handle: async ({ gateway, principal, params }) => {
      const id = params.id === 'current' && principal.kind === 'key' ? principal.key.signIn : params.id;
      const own = await gateway.signIns?.list(userOf(gateway, principal));
      if (own?.some(({ row }) => row.id === id) !== true || id === null)
        throw new AbpError('not_found', `There is no sign-in ${params.id}.`, { sign_in: params.id });
      await gateway.signIns?.end(id);
      return new Reply(204, undefined);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/sign-ins/current',
    summary: 'Who the caller is here, and what it may do.',
    response: CurrentCaller,
    handle: ({ gateway, principal }) => currentCaller(gateway, principal),
  }),
];
