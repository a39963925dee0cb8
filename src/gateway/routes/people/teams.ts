import { isoTime } from '../../../base/clock.ts';
import { NewTeam, newId, PersonParams, TeamChange, TeamDeletion, TeamList, TeamView } from '../../api/people.ts';
import type { Team } from '../../people/people.ts';
import { endTeam } from '../../people/team-end.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';

function view({ id, name, limits, showsRuns, members, createdAt }: Team): TeamView {
  return { id, name, limits, shows_runs: showsRuns, members: [...members], created_at: isoTime(createdAt) };
}

export const teamRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/teams',
    summary: 'A new team.',
    audit: { action: 'team.create', body: true },
    body: NewTeam,
    response: TeamView,
    handle: async ({ gateway, body: { limits, shows_runs: showsRuns, ...named } }) => {
      const id = newId(named);
      return new Reply(201, view(await gateway.people.createTeam({ id, name: named.name ?? id, limits, showsRuns })));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/teams',
    summary: 'All teams.',
    response: TeamList,
    handle: ({ gateway }) => ({ items: gateway.people.teams.map(view) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/teams/{id}',
    summary: 'One team.',
    params: PersonParams,
    response: TeamView,
    handle: ({ gateway, params }) => view(gateway.people.team(params.id)),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/teams/{id}',
    summary: 'Changes a team: its name, its limits, and whether its members see each other’s runs. From the next call on.',
    audit: { action: 'team.change', body: true },
    params: PersonParams,
    body: TeamChange,
    response: TeamView,
    handle: async ({ gateway: { people }, params, body }) => {
      const { id, name, limits, showsRuns } = people.team(params.id);
      const changed = { id, name: body.name ?? name, limits: body.limits ?? limits, showsRuns: body.shows_runs ?? showsRuns };
      return view(await people.changeTeam(changed));
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/teams/{id}',
    summary:
      'Deletes a team. Its users stay, and so do their own keys. Keys that were given to the team would be held to its limits and budgets no longer: while one of them is live, this is a conflict that names them, unless `keys` says what becomes of them; so are limits that hold users with live keys, and a budget of the team, unless `force` gives them up.',
    audit: { action: 'team.delete' },
    params: PersonParams,
    query: TeamDeletion,
    handle: async ({ gateway, principal, params, query }) => {
      await endTeam(gateway, principal, params.id, query);
      return new Reply(204, undefined);
    },
  }),
];
