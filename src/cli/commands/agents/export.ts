import { writeFile } from 'node:fs/promises';
import { agentIdOf, withAgentApi } from '../../agents/agent-api.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { optional, required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'its id or name') },
  options: { file: optional('--file <path>', 'where to write it (default: the standard output)') },
  examples: ['abp agents export helper', 'abp agents export helper --file helper.md'],
  async run(context, { agent, file }) {
    const markdown = await withAgentApi(context, async (api) =>
      String(await api.call('GET', `/v1/agents/${await agentIdOf(api, agent)}/export`)),
    );
    if (file === undefined) {
      if (context.output.json) context.output.print({ markdown }, () => markdown);
      else context.io.stdout.write(markdown);
      return EXITS.ok.code;
    }
    await writeFile(file, markdown).catch((cause: unknown) => {
      throw new CliError('usage', `cannot write ${file}`, { hint: 'Give the path of a file in a folder that exists.', cause });
    });
    context.output.print({ file }, () => `wrote ${file}`);
    return EXITS.ok.code;
  },
});
