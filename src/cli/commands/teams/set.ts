import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag, optional, required } from '../../parameter.ts';
import { LIMIT_OPTIONS, limitsOf } from '../../people/limits.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'the team') },
  options: {
    name: optional('--name <words>', 'its name in words'),
    ...LIMIT_OPTIONS,
    unlimited: flag('--unlimited', 'remove its limits'),
  },
  examples: ['abp teams set blue --concurrency 16', 'abp teams set blue --unlimited'],
  async run({ output, homePath }, { id, name, unlimited, ...given }) {
    const limits = limitsOf(given);
    const held = unlimited || Object.keys(limits).length > 0;
    if (!held && name === undefined) {
      throw new CliError('usage', 'nothing is to be changed', { hint: 'Give --name, a limit, or --unlimited.' });
    }
    const change = { ...(name === undefined ? {} : { name }), ...(held ? { limits } : {}) };
    const changed = await connect({ homePath }).call('PATCH', `/v1/teams/${encodeURIComponent(id)}`, change);
    output.print(changed, () => `The team ${id} is changed${held ? '; its limits hold from the next call on' : ''}.`);
    return EXITS.ok.code;
  },
});
