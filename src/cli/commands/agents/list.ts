import { everyAgent, withAgentApi } from '../../agents/agent-api.ts';
import { agentTable } from '../../agents/page.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { flag, optional } from '../../parameter.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    archived: flag('--archived', 'those that are archived instead of the active ones'),
    tag: optional('--tag <name>', 'only those with this tag'),
  },
  examples: ['abp agents list', 'abp agents list --tag team-a --json'],
  async run(context, { archived, tag }) {
    const filter = `&status=${archived ? 'archived' : 'active'}${tag === undefined ? '' : `&tag=${encodeURIComponent(tag)}`}`;
    const items = await withAgentApi(context, (api) => everyAgent(api, filter));
    context.output.print({ items }, (data) => agentTable(data.items, context.output.paint));
    return EXITS.ok.code;
  },
});
