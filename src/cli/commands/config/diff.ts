import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { ConfigAnswer, renderChanges } from '../../config-changes.ts';
import { EXITS } from '../../exit-codes.ts';

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp config diff', 'abp config diff --json'],
  async run({ output, homePath }) {
    const answer = await connect({ homePath }).call('GET', '/v1/config/diff');
    output.print(answer, (data) => renderChanges(ConfigAnswer.parse(data), output.paint, 'would change'));
    return EXITS.ok.code;
  },
});
