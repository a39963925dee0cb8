import { z } from 'zod';
import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { table } from '../../table.ts';

/** The members that the table shows. */
const Answer = z.looseObject({
  items: z.array(
    z.looseObject({ id: z.string(), name: z.string(), role: z.string().nullish(), teams: z.array(z.string()), created_at: z.string() }),
  ),
});

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp users list', 'abp users list --json'],
  async run({ output, homePath }) {
    const answer = await connect({ homePath }).call('GET', '/v1/users');
    output.print(answer, (data) => {
      const { items } = Answer.parse(data);
      if (items.length === 0) return output.paint.faint('There are no users. Make one with abp users create.');
      const head = ['User', 'Name', 'Role', 'Teams', 'Since'].map(output.paint.strong);
      const rows = items.map(({ id, name, role, teams, created_at: since }) => [
        id,
        name,
        role ?? '–',
        teams.join(', '),
        since.slice(0, 10),
      ]);
      return table([head, ...rows]);
    });
    return EXITS.ok.code;
  },
});
