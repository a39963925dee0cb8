import { connect } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { ConfigAnswer, renderChanges } from '../../config-changes.ts';
import { EXITS } from '../../exit-codes.ts';

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp config reload', 'abp config reload --json'],
  async run({ output, homePath }) {
    const answer = await connect({ homePath }).call('POST', '/v1/config/reload');
    output.print(answer, (data) => renderChanges(ConfigAnswer.parse(data), output.paint, 'changed'));
    return EXITS.ok.code;
  },
});
