import { isoTime } from '../../base/clock.ts';
import { randomToken } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { CallLimits } from '../../calls/limits/call-limits.ts';
import { Scopes } from '../../calls/scopes.ts';
import { AbpError } from '../../contract/errors.ts';
import { Recording } from '../../contract/receipts/parts.ts';
import { createKey, findKey, isLive, type Key, lastUses, listKeys, revokeKey } from '../../store/keys.ts';
import { CreatedKey, KeyChange, KeyList, KeyListQuery, KeyParams, KeyView, NewKey } from '../api/keys.ts';
import { hashSecret } from '../auth/key-ring.ts';
import { assertKnownScopes } from '../auth/known-scopes.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';

const SHOWN = 12;

function view(
  key: Key,
  limits: CallLimits | undefined,
  { people, caches }: Pick<Gateway, 'people' | 'caches'>,
  lastUsedAt?: number,
): KeyView {
  const recording = Recording.safeParse(key.recording);
  return {
    id: key.id,
    kind: key.kind,
    name: key.name,
    prefix: key.prefix,
    scopes: Scopes.parse(key.scopes),
    recording: recording.success ? recording.data : null,
    tags: [...key.tags],
    ...people.ownerOf(key.id),
    limits: limits ?? {},
    cache: caches.of(key.id) ?? null,
    created_at: isoTime(key.createdAt),
    expires_at: key.expiresAt === null ? null : isoTime(key.expiresAt),
    revoked_at: key.revokedAt === null ? null : isoTime(key.revokedAt),
    last_used_at: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
  };
}

function noKey(id: string): AbpError {
  return new AbpError('not_found', `There is no live key ${id}.`, { key_id: id });
}

export const keyRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/keys',
    summary: 'A new user key. Its secret is shown once.',
    need: { kind: 'control' },
    audit: { action: 'key.create', body: true },
    body: NewKey,
    response: CreatedKey,
    handle: async ({ gateway, body }) => {
      await assertKnownScopes(gateway, body.scopes);
      gateway.people.assertKnown('user', [body.user]);
      gateway.people.assertKnown('team', [body.team]);
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
        expiresAt: body.expires_in_s === undefined ? undefined : now + Math.round(body.expires_in_s * 1000),
      });
      // Before anybody has the secret: no call with the key may go uncounted.
      if (body.user !== undefined || body.team !== undefined) {
        await gateway.people.give(key.id, { user: body.user ?? null, team: body.team ?? null });
      }
      await gateway.limits.set(key.id, body.limits);
      if (body.cache !== undefined) await gateway.caches.set(key.id, body.cache);
      return new Reply(201, { ...view(key, body.limits, gateway), secret });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/keys',
    summary: 'Keys, without their secrets. Keys of runs that have ended are left out unless they are asked for.',
    need: { kind: 'control' },
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
    need: { kind: 'control' },
    audit: { action: 'key.change', body: true },
    params: KeyParams,
    body: KeyChange,
    response: KeyView,
    handle: async ({ gateway, params, body }) => {
      const key = await findKey(gateway.store, params.id);
      if (key === undefined || !isLive(key, Date.now())) throw noKey(params.id);
      const { user, team } = gateway.people.ownerOf(key.id);
      if (body.user !== undefined || body.team !== undefined) {
        await gateway.people.give(key.id, {
          user: body.user === undefined ? user : body.user,
          team: body.team === undefined ? team : body.team,
        });
      }
      if (body.limits !== undefined) await gateway.limits.set(key.id, body.limits);
      if (body.cache !== undefined) await gateway.caches.set(key.id, body.cache);
      return view(key, (await gateway.limits.ofKeys()).get(key.id), gateway);
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/keys/{id}',
    summary: 'Revokes a key.',
    need: { kind: 'control' },
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
