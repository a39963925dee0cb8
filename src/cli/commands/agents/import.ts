import { withAgentApi } from '../../agents/agent-api.ts';
import { agentPage } from '../../agents/page.ts';
import { objectOf } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { readInput } from '../../input.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { file: required('<file>', 'Markdown with YAML front matter, - for the standard input') },
  options: {},
  examples: ['abp agents import helper.md', 'abp agents import - --json'],
  async run(context, { file }) {
    const markdown = await readInput(file, context.io, 'a text file');
    const agent = objectOf(await withAgentApi(context, (api) => api.call('POST', '/v1/agents/import', { markdown })));
    context.output.print(agent, (made) => agentPage(made, context.output.paint));
    return EXITS.ok.code;
  },
});
