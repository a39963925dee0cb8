import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'the coding agent') },
  options: {},
  examples: ['abp plugins list claude', 'abp plugins list pi --json'],
  async run(context, { agent }) {
    const { plugins } = await openCodingAgents(context);
    context.output.print(await plugins.list(agent), ({ output }) => output);
    return EXITS.ok.code;
  },
});
