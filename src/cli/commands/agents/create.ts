import { withAgentApi } from '../../agents/agent-api.ts';
import { bodyOf, fieldOptions } from '../../agents/fields.ts';
import { agentPage } from '../../agents/page.ts';
import { objectOf } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { list, required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { name: required('<name>', 'how people call it') },
  options: { capability: list('--capability <id>', 'a capability, in this order; repeatable'), ...fieldOptions },
  examples: [
    'abp agents create helper --prompt "Be brief." --capability current_time --capability test_math',
    'abp agents create researcher --model claude/claude-sonnet-4-5 --capability research --prompt-file prompt.md',
  ],
  async run(context, { name, capability, ...fields }) {
    const body = { name, capabilities: [...capability], ...(await bodyOf(context, fields)) };
    const agent = objectOf(await withAgentApi(context, (api) => api.call('POST', '/v1/agents', body)));
    context.output.print(agent, (made) => agentPage(made, context.output.paint));
    return EXITS.ok.code;
  },
});
