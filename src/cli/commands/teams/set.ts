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
    showsRuns: flag('--shows-runs', 'let its members see each other’s runs'),
    hidesRuns: flag('--hides-runs', 'let each member see nobody else’s runs'),
  },
  examples: ['abp teams set blue --concurrency 16', 'abp teams set blue --unlimited', 'abp teams set blue --shows-runs'],
  async run({ output, homePath }, { id, name, unlimited, showsRuns, hidesRuns, ...given }) {
    const limits = limitsOf(given);
    const held = unlimited || Object.keys(limits).length > 0;
    const shown = showsRuns === hidesRuns ? {} : { shows_runs: showsRuns };
    const change = { ...(name === undefined ? {} : { name }), ...(held ? { limits } : {}), ...shown };
    if (Object.keys(change).length === 0) {
      throw new CliError('usage', 'nothing is to be changed', { hint: 'Give --name, a limit, --unlimited, --shows-runs or --hides-runs.' });
    }
    const changed = await connect({ homePath }).call('PATCH', `/v1/teams/${encodeURIComponent(id)}`, change);
    output.print(changed, () => `The team ${id} is changed${held ? '; its limits hold from the next call on' : ''}.`);
    return EXITS.ok.code;
  },
});
