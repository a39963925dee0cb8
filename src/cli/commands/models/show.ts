import type { ModelCapabilities } from '../../../contract/runs/coding-agent.ts';
import { price, thinkingWords } from '../../coding-agents/facts.ts';
import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { required } from '../../parameter.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'the coding agent'), model: required('<model>', 'a model, or an alias of one') },
  options: {},
  examples: ['abp models show claude opus', 'abp models show codex gpt-6-sol --json'],
  async run(context, { agent, model }) {
    const { adapters, models } = await openCodingAgents(context);
    const { model: found, message } = models.validate(adapters.get(agent).agent, model);
    if (found === undefined) throw new CliError('not_found', message, { hint: `abp models list ${agent} shows its models.` });
    context.output.print(found, render);
    return EXITS.ok.code;
  },
});

function render(model: ModelCapabilities): string {
  return table([
    ['model', model.modelId],
    ['name', model.displayName],
    ['alias', model.modelAlias ?? '-'],
    ['deprecated', model.deprecated ? `since ${model.deprecatedSince ?? 'some time'}, use ${model.successorModelId ?? 'another'}` : 'no'],
    ['context window', String(model.contextWindow)],
    ['output limit', String(model.maxOutputTokens)],
    ['thinking', thinkingWords(model)],
    ['per million in', price(model.inputPricePerMillion)],
    ['per million out', price(model.outputPricePerMillion)],
    ['per million cached', price(model.cachedInputPricePerMillion)],
    ...(model.priceTiers ?? []).map((tier) => [
      `above ${tier.inputTokensAbove}`,
      `${price(tier.inputPricePerMillion)} in, ${price(tier.outputPricePerMillion)} out`,
    ]),
    ['chosen with', `${model.cliArgKey} ${model.cliArgValue}`],
    ['data', `${model.source}, ${model.lastUpdated}`],
  ]);
}
