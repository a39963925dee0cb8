import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag, list, optional, required } from '../../parameter.ts';
import { ROLE_HELP } from '../../people/roles.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the user') },
  options: {
    name: optional('--name <words>', 'the name in words'),
    role: optional('--role <role>', `${ROLE_HELP}; none takes it away`),
    team: list('--team <id>', 'a team of the user, instead of those before; repeatable'),
    withoutTeams: flag('--without-teams', 'take the user out of all teams'),
  },
  examples: ['abp users set ann --team blue --team red', 'abp users set ann --role operator'],
  async run({ output, homePath }, { id, name, role, team, withoutTeams }) {
    const moved = withoutTeams || team.length > 0;
    if (!moved && name === undefined && role === undefined) {
      throw new CliError('usage', 'nothing is to be changed', { hint: 'Give --name, --role, --team or --without-teams.' });
    }
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(role === undefined ? {} : { role: role === 'none' ? null : role }),
      ...(moved ? { teams: withoutTeams ? [] : [...team] } : {}),
    };
    const changed = await connect({ homePath }).call('PATCH', `/v1/users/${encodeURIComponent(id)}`, change);
    output.print(changed, () => `The user ${id} is changed.`);
    return EXITS.ok.code;
  },
});
