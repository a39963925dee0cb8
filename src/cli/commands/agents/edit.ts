import type { Json, JsonObject } from '../../../base/json.ts';
import { usd } from '../../../platform/agents/agent-limits.ts';
import { agentFromMarkdown } from '../../../platform/agents/agent-markdown.ts';
import { agentIdOf, withAgentApi } from '../../agents/agent-api.ts';
import { bodyOf, fieldOptions } from '../../agents/fields.ts';
import type { AgentApi } from '../../agents/home-api.ts';
import { agentPage } from '../../agents/page.ts';
import { objectOf } from '../../client.ts';
import { type Context, defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { readInput } from '../../input.ts';
import { optional, required } from '../../parameter.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'its id or name') },
  options: {
    name: optional('--name <text>', 'a new name'),
    file: optional('--file <path>', 'everything from a file as export writes it, - for the standard input'),
    ...fieldOptions,
  },
  examples: ['abp agents edit helper --model sim/sim-1 --prompt "Be exact."', 'abp agents edit helper --file helper.md'],
  async run(context, { agent: named, name, file, ...fields }) {
    const said = { ...(name === undefined ? {} : { name }), ...(await bodyOf(context, fields)) };
    if (file === undefined && Object.keys(said).length === 0) {
      throw new CliError('usage', 'nothing to change', { hint: 'Name what should change, or give a --file.' });
    }
    const agent = await withAgentApi(context, async (api) => {
      const id = await agentIdOf(api, named);
      if (file !== undefined) await replace(context, api, id, file);
      return objectOf(await api.call(Object.keys(said).length === 0 ? 'GET' : 'PATCH', `/v1/agents/${id}`, bodyUnlessEmpty(said)));
    });
    context.output.print(agent, (changed) => agentPage(changed, context.output.paint));
    return EXITS.ok.code;
  },
});

function bodyUnlessEmpty(said: JsonObject): Json | undefined {
  return Object.keys(said).length === 0 ? undefined : said;
}

/** The capabilities come first: they are what can be refused. */
async function replace(context: Context, api: AgentApi, id: string, file: string): Promise<void> {
  const { capabilities, conflicts, ...rest } = await agentFromMarkdown(await readInput(file, context.io, 'a text file'));
  const chosen = capabilities.map(({ id: capability, config, version }) => ({
    capability_id: capability,
    ...(config === undefined ? {} : { config }),
    ...(version === undefined ? {} : { version }),
  }));
  await api.call('PUT', `/v1/agents/${id}/capabilities`, { capabilities: chosen, conflicts });
  await api.call('PATCH', `/v1/agents/${id}`, {
    name: rest.name,
    description: rest.description,
    model: rest.model,
    tags: [...rest.tags],
    system_prompt: rest.systemPrompt,
    max_iterations: rest.maxIterations,
    max_cost_usd: rest.maxCostNanoUsd === null ? null : usd(rest.maxCostNanoUsd),
  });
}
