import { agentIdOf, withAgentApi } from '../../agents/agent-api.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { writeText } from '../../io.ts';
import { optional, required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'its id or name') },
  options: { output: optional('--output <file>', 'write here instead of the standard output') },
  examples: ['abp agents export helper', 'abp agents export helper --output helper.md'],
  async run(context, { agent, output: file }) {
    const markdown = await withAgentApi(context, async (api) =>
      String(await api.call('GET', `/v1/agents/${await agentIdOf(api, agent)}/export`)),
    );
    if (file === undefined) {
      if (context.output.json) context.output.print({ markdown }, () => markdown);
      else context.io.stdout.write(markdown);
      return EXITS.ok.code;
    }
    writeText(file, markdown);
    context.output.print({ file }, () => `wrote ${file}`);
    return EXITS.ok.code;
  },
});
