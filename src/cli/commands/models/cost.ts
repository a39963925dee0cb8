import { dollars } from '../../coding-agents/facts.ts';
import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { CliError } from '../../failure.ts';
import { count, required } from '../../parameter.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'the coding agent'), model: required('<model>', 'a model, or an alias of one') },
  options: {
    input: count('--input <tokens>', 'input tokens, with those read from the cache'),
    output: count('--output <tokens>', 'output tokens, with those of thinking'),
    cached: count('--cached <tokens>', 'of the input, those read from the cache'),
    cacheWrite: count('--cache-write <tokens>', 'of the input, those written to the cache'),
    thinking: count('--thinking <tokens>', 'of the output, those of thinking'),
    searches: count('--searches <calls>', 'web searches'),
  },
  examples: [
    'abp models cost claude opus --input 120000 --cached 100000 --output 4000',
    'abp models cost codex gpt-6-sol --input 1000 --json',
  ],
  async run(context, { agent, model, input, output, cached, cacheWrite, thinking, searches }) {
    if ([input, output, cached, cacheWrite, thinking, searches].every((tokens) => tokens === undefined)) {
      throw new CliError('usage', 'nothing to count', { hint: 'Say what was used, such as --input 10000 --output 2000.' });
    }
    const { adapters, models } = await openCodingAgents(context);
    const { model: row, message } = models.validate(adapters.get(agent).agent, model);
    if (row === undefined) throw new CliError('not_found', message, { hint: `abp models list ${agent} shows its models.` });
    const usage = {
      inputTokens: input ?? 0,
      outputTokens: output ?? 0,
      cachedTokens: cached,
      cacheCreationTokens: cacheWrite,
      thinkingTokens: thinking,
      webSearchRequests: searches,
    };
    const data = {
      model: row.modelId,
      estimatedUsd: models.estimateCost(agent, row.modelId, input ?? 0, output ?? 0),
      totalUsd: models.costOf(agent, row.modelId, usage) ?? null,
    };
    context.output.print(data, ({ estimatedUsd, totalUsd }) =>
      table([
        ['model', row.modelId],
        ['input and output at list price', dollars(estimatedUsd)],
        ['with cache, thinking, tiers, searches', totalUsd === null ? 'no price is known' : dollars(totalUsd)],
      ]),
    );
    return EXITS.ok.code;
  },
});
