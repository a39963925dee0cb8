import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'the coding agent'), model: required('<model>', 'the name to check') },
  options: {},
  examples: ['abp models validate claude opus', 'abp models validate codex gpt-6 --json'],
  async run(context, { agent, model }) {
    const { output } = context;
    const { adapters, models } = await openCodingAgents(context);
    const result = models.validate(adapters.get(agent).agent, model);
    output.print(result, ({ status, message, valid }) => `${valid ? output.paint.good(status) : output.paint.bad(status)}  ${message}`);
    return result.valid ? EXITS.ok.code : EXITS.refused.code;
  },
});
