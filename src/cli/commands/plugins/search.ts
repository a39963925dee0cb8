import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'the coding agent'), query: required('<query>', 'what to look for') },
  options: {},
  examples: ['abp plugins search hermes docker', 'abp plugins search hermes docker --json'],
  async run(context, { agent, query }) {
    const { plugins } = await openCodingAgents(context);
    context.output.print(await plugins.search(agent, query), ({ output }) => output);
    return EXITS.ok.code;
  },
});
