import { z } from 'zod';
import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { table } from '../../table.ts';
import { agoText } from '../../time.ts';

/** The members that the table shows. */
const Answer = z.looseObject({
  items: z.array(
    z.looseObject({ id: z.string(), user: z.string(), via: z.string(), label: z.string(), created_at: z.string(), expires_at: z.string() }),
  ),
});

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp sign-ins list', 'abp sign-ins list --json'],
  async run({ output, homePath }) {
    const answer = await connect({ homePath }).call('GET', '/v1/sign-ins');
    output.print(answer, (data) => {
      const { items } = Answer.parse(data);
      if (items.length === 0) return output.paint.faint('Nobody is signed in.');
      const head = ['Sign-in', 'User', 'Via', 'Where', 'Since', 'Until'].map(output.paint.strong);
      const rows = items.map((one) => [one.id, one.user, one.via, one.label, agoText(one.created_at), one.expires_at.slice(0, 16)]);
      return table([head, ...rows]);
    });
    return EXITS.ok.code;
  },
});
