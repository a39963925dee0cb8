import { agentIdOf, withAgentApi } from '../../agents/agent-api.ts';
import { agentPage, previewPage } from '../../agents/page.ts';
import { objectOf } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'its id or name') },
  options: {},
  examples: ['abp agents show helper', 'abp agents show helper --json'],
  async run(context, { agent: named }) {
    const shown = await withAgentApi(context, async (api) => {
      const id = await agentIdOf(api, named);
      const [agent, preview] = await Promise.all([api.call('GET', `/v1/agents/${id}`), api.call('GET', `/v1/agents/${id}/preview`)]);
      return { agent: objectOf(agent), preview: objectOf(preview) };
    });
    const { paint } = context.output;
    context.output.print(shown, ({ agent, preview }) => `${agentPage(agent, paint)}\n\n${previewPage(preview, paint)}`);
    return EXITS.ok.code;
  },
});
