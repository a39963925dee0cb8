import { z } from 'zod';
import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';

/** The members that are told to people. */
const Answer = z.looseObject({
  principal: z.string(),
  user: z.string().nullable(),
  service: z.string().nullable(),
  role: z.string().nullable(),
  teams: z.array(z.string()),
  permissions: z.array(z.string()),
  expires_at: z.string().nullable(),
});

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp whoami', 'abp whoami --json'],
  async run({ output, homePath }) {
    const server = connect({ homePath });
    const answer = await server.call('GET', '/v1/sign-ins/current');
    output.print(answer, (data) => {
      const { principal, user, service, role, teams, permissions, expires_at: until } = Answer.parse(data);
      const name = user ?? service ?? (principal === 'token' ? 'the holder of the home’s token' : `a ${principal}`);
      return [
        `${name} at ${server.url}`,
        `  role         ${role ?? 'none'}`,
        `  teams        ${teams.join(', ') || 'none'}`,
        `  permissions  ${permissions.join(', ')}`,
        ...(until === null ? [] : [`  until        ${until}`]),
      ].join('\n');
    });
    return EXITS.ok.code;
  },
});
