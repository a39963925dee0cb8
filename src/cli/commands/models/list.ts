import { price, tokens } from '../../coding-agents/facts.ts';
import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { optional } from '../../parameter.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: { agent: optional('[agent]', 'one coding agent; without it, every one') },
  options: {},
  examples: ['abp models list claude', 'abp models list --json'],
  async run(context, { agent }) {
    const { output } = context;
    const { adapters, models } = await openCodingAgents(context);
    const names = agent === undefined ? adapters.list().map((one) => one.agent) : [adapters.get(agent).agent];
    const items = names.flatMap((name) => models.catalog(name));
    output.print({ items }, (data) => {
      const head = ['Agent', 'Model', 'Alias', 'Context', 'Output', '$/M in', '$/M out', ''].map(output.paint.strong);
      const rows = data.items.map((one) => [
        one.agent,
        one.modelId,
        one.modelAlias ?? '',
        tokens(one.contextWindow),
        tokens(one.maxOutputTokens),
        price(one.inputPricePerMillion),
        price(one.outputPricePerMillion),
        one.deprecated ? output.paint.warn('deprecated') : one.isDefault ? output.paint.good('default') : '',
      ]);
      return table([head, ...rows]);
    });
    return EXITS.ok.code;
  },
});
