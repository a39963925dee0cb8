import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { required } from '../../parameter.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'the coding agent') },
  options: {},
  examples: ['abp models refresh codex', 'abp models refresh claude --json'],
  async run(context, { agent }) {
    const { output } = context;
    const { adapters, models } = await openCodingAgents(context);
    const known = new Set(models.models(adapters.get(agent).agent).map(({ modelId }) => modelId));
    await models.refresh(agent);
    const items = models.models(agent).map((model) => ({ ...model, isNew: !known.has(model.modelId) }));
    output.print({ items, lastUpdated: models.lastUpdated(agent).toISOString() }, (data) =>
      table(
        data.items.map(({ modelId, displayName, source, isNew }) => [modelId, displayName, source, isNew ? output.paint.good('new') : '']),
      ),
    );
    return EXITS.ok.code;
  },
});
