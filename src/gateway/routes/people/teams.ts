import { isoTime } from '../../../base/clock.ts';
import { NewTeam, PersonParams, TeamChange, TeamList, TeamView } from '../../api/people.ts';
import type { Team } from '../../people/people.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';

function view({ id, name, limits, members, createdAt }: Team): TeamView {
  return { id, name, limits, members: [...members], created_at: isoTime(createdAt) };
}

export const teamRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/teams',
    summary: 'A new team.',
    need: { kind: 'control' },
    audit: { action: 'team.create', body: true },
    body: NewTeam,
    response: TeamView,
    handle: async ({ gateway, body: { id, name = id, limits } }) =>
      new Reply(201, view(await gateway.people.createTeam({ id, name, limits }))),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/teams',
    summary: 'All teams.',
    need: { kind: 'control' },
    response: TeamList,
    handle: ({ gateway }) => ({ items: gateway.people.teams.map(view) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/teams/{id}',
    summary: 'One team.',
    need: { kind: 'control' },
    params: PersonParams,
    response: TeamView,
    handle: ({ gateway, params }) => view(gateway.people.team(params.id)),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/teams/{id}',
    summary: 'Changes the name or the limits of a team. They hold from the next call on.',
    need: { kind: 'control' },
    audit: { action: 'team.change', body: true },
    params: PersonParams,
    body: TeamChange,
    response: TeamView,
    handle: async ({ gateway: { people }, params, body }) => {
      const { id, name, limits } = people.team(params.id);
      return view(await people.changeTeam({ id, name: body.name ?? name, limits: body.limits ?? limits }));
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/teams/{id}',
    summary: 'Deletes a team. Its users and keys stay.',
    need: { kind: 'control' },
    audit: { action: 'team.delete' },
    params: PersonParams,
    handle: async ({ gateway, params }) => {
      await gateway.people.deleteTeam(params.id);
      return new Reply(204, undefined);
    },
  }),
];
