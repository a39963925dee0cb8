import { z } from 'zod';
import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { table } from '../../table.ts';

/** The members that the table shows. */
const Answer = z.looseObject({
  items: z.array(
    z.looseObject({ id: z.string(), name: z.string(), members: z.array(z.string()), limits: z.record(z.string(), z.number()) }),
  ),
});

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp teams list', 'abp teams list --json'],
  async run({ output, homePath }) {
    const answer = await connect({ homePath }).call('GET', '/v1/teams');
    output.print(answer, (data) => {
      const { items } = Answer.parse(data);
      if (items.length === 0) return output.paint.faint('There are no teams. Make one with abp teams create.');
      const limits = (held: Readonly<Record<string, number>>): string =>
        Object.entries(held)
          .map(([limit, most]) => `${limit.replaceAll('_', ' ')} ${most}`)
          .join(', ');
      const head = ['Team', 'Name', 'Users', 'Limits'].map(output.paint.strong);
      return table([head, ...items.map((team) => [team.id, team.name, team.members.join(', '), limits(team.limits)])]);
    });
    return EXITS.ok.code;
  },
});
