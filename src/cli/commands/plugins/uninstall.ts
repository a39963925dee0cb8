import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'the coding agent'), plugin: required('<plugin>', 'the plugin, as the agent names it') },
  options: {},
  examples: ['abp plugins uninstall pi npm:pi-skills', 'abp plugins uninstall claude formatter@my-marketplace --json'],
  async run(context, { agent, plugin }) {
    const { plugins } = await openCodingAgents(context);
    context.output.print(await plugins.uninstall(agent, plugin), ({ output }) => output);
    return EXITS.ok.code;
  },
});
