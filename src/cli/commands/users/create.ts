import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { list, optional, required } from '../../parameter.ts';
import { ROLE_HELP } from '../../people/roles.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'a short name or an address') },
  options: {
    name: optional('--name <words>', 'the name in words'),
    role: optional('--role <role>', ROLE_HELP),
    team: list('--team <id>', 'a team of the user; repeatable'),
  },
  examples: ['abp users create ann --name "Ann Example" --team blue', 'abp users create ben --role auditor'],
  async run({ output, homePath }, { id, name, role, team }) {
    const user = { id, teams: [...team], ...(name === undefined ? {} : { name }), ...(role === undefined ? {} : { role }) };
    const created = await connect({ homePath }).call('POST', '/v1/users', user);
    output.print(created, () => `There is a user ${id}. Make a key with abp keys create NAME --user ${id}.`);
    return EXITS.ok.code;
  },
});
