import { isoTime } from '../../../base/clock.ts';
import { NewUser, newId, PersonParams, UserChange, UserList, UserView } from '../../api/people.ts';
import { liveKeys, revokeKeys } from '../../people/keys-of-people.ts';
import type { User } from '../../people/people.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';

function view({ id, name, role, teams, createdAt }: User): UserView {
  return { id, name, role: role ?? null, teams: [...teams], created_at: isoTime(createdAt) };
}

export const userRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/users',
    summary: 'A new user.',
    audit: { action: 'user.create', body: true },
    body: NewUser,
    response: UserView,
    handle: async ({ gateway, body: { role, teams, ...named } }) => {
      const id = newId(named);
      return new Reply(201, view(await gateway.people.createUser({ id, name: named.name ?? id, role, teams })));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/users',
    summary: 'All users.',
    response: UserList,
    handle: ({ gateway }) => ({ items: gateway.people.users.map(view) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/users/{id}',
    summary: 'One user.',
    params: PersonParams,
    response: UserView,
    handle: ({ gateway, params }) => view(gateway.people.user(params.id)),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/users/{id}',
    summary: 'Changes the name, the role or the teams of a user.',
    audit: { action: 'user.change', body: true },
    params: PersonParams,
    body: UserChange,
    response: UserView,
    handle: async ({ gateway: { people, keys }, params, body }) => {
      const { id, name, role, lockedOut, teams } = people.user(params.id);
      const standing = body.role === undefined ? { role, lockedOut } : { role: body.role ?? undefined };
      const after = await people.changeUser({ id, name: body.name ?? name, ...standing, teams: body.teams ?? teams });
      // What goes on in the name of the user's keys is asked about again.
      keys.forget();
      return view(after);
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/users/{id}',
    summary: 'Deletes a user and revokes all keys of the user.',
    audit: { action: 'user.delete' },
    params: PersonParams,
    handle: async ({ gateway, principal, params }) => {
      const { people } = gateway;
      // The user may have got a key on another node a moment ago.
      await people.read();
      const { id } = people.user(params.id);
      // First the keys: a user who is half deleted must not be able to go on.
      await revokeKeys(gateway, principal, await liveKeys(gateway, people.keysOf('user', id)));
      await people.deleteUser(id);
      return new Reply(204, undefined);
    },
  }),
];
