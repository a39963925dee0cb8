import { agentIdOf, withAgentApi } from '../../agents/agent-api.ts';
import { assignedTable, capabilityTable, warningLines } from '../../agents/page.ts';
import { itemsOf, objectOf } from '../../client.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { flag, list, optional } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { agent: optional('[agent]', 'its id or name; without it, all capabilities there are') },
  options: {
    set: list('--set <id>', 'give it these and no others, in this order; repeatable'),
    none: flag('--none', 'take all away'),
    conflicts: optional('--conflicts <policy>', 'tools of one name: error, prefix, prefer or prefer:<capability>'),
  },
  examples: ['abp agents capabilities', 'abp agents capabilities helper', 'abp agents capabilities helper --set current_time,test_math'],
  async run(context, { agent, set, none, conflicts }) {
    const { output } = context;
    assertTogether(agent, { changes: set.length > 0 || none, conflicts });
    const answer = objectOf(
      await withAgentApi(context, async (api) => {
        if (agent === undefined) return await api.call('GET', '/v1/capabilities');
        const path = `/v1/agents/${await agentIdOf(api, agent)}/capabilities`;
        if (set.length === 0 && !none) return await api.call('GET', path);
        return await api.call('PUT', path, { capabilities: [...set], ...(conflicts === undefined ? {} : { conflicts }) });
      }),
    );
    const items = itemsOf(answer);
    output.print(answer, () =>
      agent === undefined
        ? capabilityTable(items, output.paint)
        : [assignedTable(items, output.paint), ...warningLines(answer.warnings, output.paint)].join('\n'),
    );
    return EXITS.ok.code;
  },
});

/** An option without an effect is refused, not ignored. */
function assertTogether(
  agent: string | undefined,
  { changes, conflicts }: { readonly changes: boolean; readonly conflicts: string | undefined },
): void {
  if (agent === undefined && (changes || conflicts !== undefined)) {
    throw new CliError('usage', 'no agent is named', { hint: 'Name the agent whose capabilities should change.' });
  }
  if (!changes && conflicts !== undefined) {
    throw new CliError('usage', '--conflicts goes with --set or --none', { hint: 'abp agents edit --conflicts changes it alone.' });
  }
}
