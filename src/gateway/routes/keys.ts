import { isoTime } from '../../base/clock.ts';
import { randomToken } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { CallLimits } from '../../calls/limits/call-limits.ts';
import { Scopes } from '../../calls/scopes.ts';
import { AbpError } from '../../contract/errors.ts';
import { Recording } from '../../contract/receipts/parts.ts';
import { createKey, findKey, isLive, type Key, lastUses, listKeys, revokeKey, rotateKey } from '../../store/keys.ts';
import { CreatedKey, KeyChange, KeyList, KeyListQuery, KeyParams, KeyRotation, KeyView, NewKey } from '../api/keys.ts';
import { hashSecret } from '../auth/key-ring.ts';
import { assertKnownScopes } from '../auth/known-scopes.ts';
import { RIGHTS } from '../auth/permissions.ts';
import { rightsOfKey } from '../auth/rights.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';

const SHOWN = 12;
const DAY_S = 86_400;

function view(
  key: Key,
  limits: CallLimits | undefined,
  { people, caches }: Pick<Gateway, 'people' | 'caches'>,
  lastUsedAt?: number,
): KeyView {
  const recording = Recording.safeParse(key.recording);
  const scopes = Scopes.parse(key.scopes);
  const used = Math.max(lastUsedAt ?? 0, key.lastUsedAt ?? 0);
  return {
    id: key.id,
    kind: key.kind,
    name: key.name,
    prefix: key.prefix,
    scopes,
    recording: recording.success ? recording.data : null,
    tags: [...key.tags],
    ...people.ownerOf(key.id),
    role: rightsOfKey(scopes, people.standingOf(key.id).role).role ?? null,
    limits: limits ?? {},
    cache: caches.of(key.id) ?? null,
    created_at: isoTime(key.createdAt),
    expires_at: key.expiresAt === null ? null : isoTime(key.expiresAt),
    revoked_at: key.revokedAt === null ? null : isoTime(key.revokedAt),
    rotated_at: key.rotatedAt === null ? null : isoTime(key.rotatedAt),
    last_used_at: used === 0 ? null : isoTime(used),
  };
}

/** Seconds that a new key lives where its maker says nothing; null: for ever. */
function defaultLife({ config }: Gateway): number | null {
  return config.auth.key_days === undefined ? null : config.auth.key_days * DAY_S;
}

function expiryOf(seconds: number | null, now: number): number | null {
  return seconds === null ? null : now + Math.round(seconds * 1000);
}

/** A key that says more than its user may would only mislead. */
function assertNotAboveUser({ people }: Gateway, scopes: Scopes, user: string | null): void {
  const role = user === null ? undefined : people.user(user).role;
  const own = scopes.admin === true ? 'admin' : scopes.role;
  if (role === undefined || own === undefined || role === 'admin' || role === own) return;
  const beyond = [...RIGHTS[own].difference(RIGHTS[role])];
  if (beyond.length === 0) return;
  throw new AbpError('unprocessable', `The user ${user} has the role ${role}; a key with the role ${own} would open more than that.`, {
    user,
    role,
    beyond,
  });
}

function noKey(id: string): AbpError {
  return new AbpError('not_found', `There is no live key ${id}.`, { key_id: id });
}

export const keyRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/keys',
    summary: 'A new user key. Its secret is shown once.',
    audit: { action: 'key.create', body: true },
    body: NewKey,
    response: CreatedKey,
    handle: async ({ gateway, body }) => {
      await assertKnownScopes(gateway, body.scopes);
      const owner = { user: body.user ?? null, team: body.team ?? null, service: body.service ?? null };
      gateway.people.assertOwner(owner);
      assertNotAboveUser(gateway, body.scopes, owner.user);
      const secret = `abp_${randomToken(32)}`;
      const now = Date.now();
      const key = await createKey(gateway.store, {
        kind: 'user',
        name: body.name,
        hash: hashSecret(secret),
        prefix: secret.slice(0, SHOWN),
        scopes: body.scopes as JsonObject, // parsed from JSON, so no member is undefined
        recording: body.recording,
        tags: body.tags,
        createdAt: now,
        expiresAt: expiryOf(body.expires_in_s === undefined ? defaultLife(gateway) : body.expires_in_s, now) ?? undefined,
      });
      // Before anybody has the secret: no call with the key may go uncounted.
      if (Object.values(owner).some((one) => one !== null)) await gateway.people.give(key.id, owner);
      await gateway.limits.set(key.id, body.limits);
      if (body.cache !== undefined) await gateway.caches.set(key.id, body.cache);
      return new Reply(201, { ...view(key, body.limits, gateway), secret });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/keys',
    summary: 'Keys, without their secrets. Keys of runs that have ended are left out unless they are asked for.',
    query: KeyListQuery,
    response: KeyList,
    handle: async ({ gateway, query }) => {
      const { ended, ...options } = query;
      const page = await listKeys(gateway.store, { ...options, ...(ended ? {} : { endedRunsAt: Date.now() }) });
      const [limits, used] = [
        await gateway.limits.ofKeys(),
        await lastUses(
          gateway.store,
          page.items.map(({ id }) => id),
        ),
      ];
      return {
        items: page.items.map((key) => view(key, limits.get(key.id), gateway, used.get(key.id))),
        ...(page.next_cursor === undefined ? {} : { next_cursor: page.next_cursor }),
      };
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/keys/{id}',
    summary: 'Changes the limits of a key, or whose it is, from the next call on.',
    audit: { action: 'key.change', body: true },
    params: KeyParams,
    body: KeyChange,
    response: KeyView,
    handle: async ({ gateway, params, body }) => {
      const key = await findKey(gateway.store, params.id);
      if (key === undefined || !isLive(key, Date.now())) throw noKey(params.id);
      const { user, team, service } = gateway.people.ownerOf(key.id);
      const owner = {
        user: body.user === undefined ? user : body.user,
        team: body.team === undefined ? team : body.team,
        service: body.service === undefined ? service : body.service,
      };
      if (body.user !== undefined || body.team !== undefined || body.service !== undefined) await gateway.people.give(key.id, owner);
      if (body.limits !== undefined) await gateway.limits.set(key.id, body.limits);
      if (body.cache !== undefined) await gateway.caches.set(key.id, body.cache);
      return view(key, (await gateway.limits.ofKeys()).get(key.id), gateway);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/keys/{id}/rotate',
    summary: 'A new secret for a key, shown once. The one before works until the overlap is over; id, limits and budgets stay.',
    audit: { action: 'key.rotate', body: true },
    params: KeyParams,
    body: KeyRotation,
    response: CreatedKey,
    handle: async ({ gateway, params, body }) => {
      const now = Date.now();
      const key = await findKey(gateway.store, params.id);
      if (key === undefined || key.kind !== 'user' || !isLive(key, now)) throw noKey(params.id);
      const before = key.expiresAt === null ? null : (key.expiresAt - (key.rotatedAt ?? key.createdAt)) / 1000;
      const secret = `abp_${randomToken(32)}`;
      const rotated = await rotateKey(gateway.store, key.id, {
        hash: hashSecret(secret),
        prefix: secret.slice(0, SHOWN),
        expiresAt: expiryOf(body.expires_in_s === undefined ? before : body.expires_in_s, now),
        overlapUntil: now + Math.round(body.overlap_s * 1000),
        now,
      });
      gateway.keys.forget();
      const limits = await gateway.limits.ofKeys();
      return new Reply(200, { ...view(rotated, limits.get(key.id), gateway), secret });
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/keys/{id}',
    summary: 'Revokes a key.',
    audit: { action: 'key.revoke' },
    params: KeyParams,
    handle: async ({ gateway, params }) => {
      const revoked = await revokeKey(gateway.store, params.id, Date.now());
      gateway.keys.forget();
      if (!revoked) throw noKey(params.id);
      await gateway.limits.set(params.id, {});
      return new Reply(204, undefined);
    },
  }),
];
