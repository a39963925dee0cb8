import { isoTime } from '../../../base/clock.ts';
import { AbpError } from '../../../contract/errors.ts';
import type { Key } from '../../../store/keys.ts';
import { NewTeam, PersonParams, TeamChange, TeamDeletion, TeamList, TeamView } from '../../api/people.ts';
import { liveKeys, revokeKeys } from '../../people/keys-of-people.ts';
import type { Team } from '../../people/people.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';

function view({ id, name, limits, showsRuns, members, createdAt }: Team): TeamView {
  return { id, name, limits, shows_runs: showsRuns, members: [...members], created_at: isoTime(createdAt) };
}

function stillHasKeys(team: string, keys: readonly Key[]): AbpError {
  const names = keys.map(({ id, name }) => `${id} (${name})`);
  const shown = names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', ');
  return new AbpError(
    'conflict',
    `The team ${team} has live keys, which its limits would hold no longer: ${shown}. Say what becomes of them: keys=revoke (--revoke-keys) or keys=keep (--keep-keys); or give them to another team first.`,
    { team, keys: keys.map(({ id }) => id) },
  );
}

export const teamRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/teams',
    summary: 'A new team.',
    audit: { action: 'team.create', body: true },
    body: NewTeam,
    response: TeamView,
    handle: async ({ gateway, body: { id, name = id, limits, shows_runs: showsRuns } }) =>
      new Reply(201, view(await gateway.people.createTeam({ id, name, limits, showsRuns }))),
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
      'Deletes a team. Its users stay, and so do their own keys. Keys that were given to the team would be held to its limits and budgets no longer: while one of them is live, this is a conflict that names them, unless `keys` says what becomes of them.',
    audit: { action: 'team.delete' },
    params: PersonParams,
    query: TeamDeletion,
    handle: async ({ gateway, principal, params, query }) => {
      const { people } = gateway;
      // A key may have been given to it on another node a moment ago.
      await people.read();
      const { id } = people.team(params.id);
      const given = await liveKeys(gateway, people.givenTo(id));
      if (given.length > 0 && query.keys === undefined) throw stillHasKeys(id, given);
      if (query.keys === 'revoke') await revokeKeys(gateway, principal, given);
      await people.deleteTeam(id);
      return new Reply(204, undefined);
    },
  }),
];
