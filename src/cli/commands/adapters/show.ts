import { hookTable } from '../../../adapters/hooks.ts';
import type { AgentCapabilities } from '../../../contract/runs/coding-agent.ts';
import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { required } from '../../parameter.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'the coding agent') },
  options: {},
  examples: ['abp adapters show claude', 'abp adapters show codex --json'],
  async run(context, { agent }) {
    const { output } = context;
    const { adapters } = await openCodingAgents(context);
    const adapter = adapters.get(agent);
    const { displayName, capabilities, summary, notes, defaultModelId, modelsAsOf, modelsSource } = adapter;
    const hooks = hookTable(adapter);
    const detection = await adapters.detect(agent);
    const installInstructions = adapters.installInstructions(agent);
    const data = {
      agent,
      displayName,
      capabilities,
      summary,
      notes,
      hooks,
      installInstructions,
      defaultModelId,
      modelsAsOf,
      modelsSource,
      detection,
    };
    output.print(data, () => {
      const version = detection.installed ? `${detection.version ?? ''} at ${detection.path ?? ''}` : 'not installed';
      return [
        `${output.paint.strong(displayName)} (${agent}), ${version}`,
        table(fields(capabilities, detection.effective, output.paint)),
        table(Object.entries(hooks).map(([hook, support]) => [`hook ${hook}`, support])),
        table(installInstructions.map(({ type, command: line, notes: remark }) => [type, line, output.paint.faint(remark ?? '')])),
        ...notes.map(({ date, version: measured, note }) => `${output.paint.faint(`${date}, ${measured}:`)} ${note}`),
      ].join('\n\n');
    });
    return EXITS.ok.code;
  },
});

/** Every field of the profile, and beside it what the installed version differs in. */
function fields(profile: AgentCapabilities, effective: AgentCapabilities, paint: Paint): string[][] {
  const real = new Map<string, unknown>(Object.entries(effective));
  return Object.entries(profile)
    .filter(([name]) => name !== 'installMethods' && name !== 'agent')
    .map(([name, value]) => {
      const [said, found] = [words(value), words(real.get(name))];
      return [name, said, said === found ? '' : paint.warn(`this version: ${found}`)];
    });
}

function words(value: unknown): string {
  if (Array.isArray(value))
    return value.map((item: unknown) => (typeof item === 'object' ? JSON.stringify(item) : String(item))).join(', ') || '-';
  return value === null || value === undefined ? '-' : String(value);
}
