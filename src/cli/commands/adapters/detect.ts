import type { Detection } from '../../../runtime/coding-agents/detection.ts';
import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { optional } from '../../parameter.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: { agent: optional('[agent]', 'one coding agent; without it, every one') },
  options: {},
  examples: ['abp adapters detect', 'abp adapters detect codex --json'],
  async run(context, { agent }) {
    const { output } = context;
    const { adapters } = await openCodingAgents(context);
    if (agent === undefined) {
      const items = await Promise.all(adapters.list().map((adapter) => adapters.detect(adapter.agent)));
      output.print({ items }, (data) => table(data.items.map((one) => row(one, output.paint))));
      return EXITS.ok.code;
    }
    const found = await adapters.detect(agent);
    output.print(found, (one) => table([row(one, output.paint)]));
    return found.installed ? EXITS.ok.code : EXITS.unavailable.code;
  },
});

function row({ agent, installed, version, untested, path, problem }: Detection, paint: Paint): string[] {
  if (installed) return [agent, paint.good('installed'), version ?? '', paint.faint(path ?? ''), paint.warn(untested ?? '')];
  return [agent, paint.faint('not installed'), '', paint.faint(problem ?? '')];
}
