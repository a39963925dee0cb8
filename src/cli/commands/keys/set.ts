import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag, optional, required } from '../../parameter.ts';
import { LIMIT_OPTIONS, limitsOf } from '../../people/limits.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the key, as abp keys list names it') },
  options: {
    ...LIMIT_OPTIONS,
    unlimited: flag('--unlimited', 'remove its limits; those of the configuration hold'),
    user: optional('--user <id>', 'the user whose key it is from now on'),
    team: optional('--team <id>', 'the team whose key it is from now on'),
    service: optional('--service <name>', 'the program whose key it is from now on'),
  },
  examples: [
    'abp keys set key_0192f3a0c1d27b7e8f00112233445566 --requests-per-minute 600 --concurrency 8',
    'abp keys set key_0192f3a0c1d27b7e8f00112233445566 --unlimited',
    'abp keys set key_0192f3a0c1d27b7e8f00112233445566 --team blue',
  ],
  async run({ output, homePath }, { id, unlimited, user, team, service, ...given }) {
    const limits = limitsOf(given);
    if (unlimited && Object.keys(limits).length > 0) {
      throw new CliError('usage', 'the key cannot have limits and none', { hint: 'Give limits, or --unlimited.' });
    }
    const owners = Object.fromEntries(Object.entries({ user, team, service }).filter(([, named]) => named !== undefined));
    const held = unlimited || Object.keys(limits).length > 0;
    const change = { ...owners, ...(held ? { limits } : {}) };
    if (Object.keys(change).length === 0) {
      throw new CliError('usage', 'nothing is to be changed', { hint: 'Give a limit, --unlimited, --user, --team or --service.' });
    }
    const changed = await connect({ homePath }).call('PATCH', `/v1/keys/${encodeURIComponent(id)}`, change);
    output.print(changed, () => `The key ${id} is changed. It holds from the next call on.`);
    return EXITS.ok.code;
  },
});
