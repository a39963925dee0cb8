import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { flag, optional, required } from '../../parameter.ts';
import { LIMIT_OPTIONS, limitsOf } from '../../people/limits.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'its short name') },
  options: {
    name: optional('--name <words>', 'its name in words'),
    showsRuns: flag('--shows-runs', 'let its members see each other’s runs'),
    ...LIMIT_OPTIONS,
  },
  examples: ['abp teams create blue --name "Blue team" --tokens-per-minute 2000000'],
  async run({ output, homePath }, { id, name, showsRuns, ...limits }) {
    const team = { id, limits: limitsOf(limits), shows_runs: showsRuns, ...(name === undefined ? {} : { name }) };
    const created = await connect({ homePath }).call('POST', '/v1/teams', team);
    output.print(created, () => `There is a team ${id}. Give it keys with abp keys create NAME --team ${id}.`);
    return EXITS.ok.code;
  },
});
