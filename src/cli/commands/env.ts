import { openHome } from '../../home/home.ts';
import type { AgentEnvironment } from '../../runtime/runs/process/launch.ts';
import { defineCommand } from '../command.ts';
import { withConfig } from '../config.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { required } from '../parameter.ts';
import { AGENT_OPTIONS, runOptions } from '../runs/options.ts';

export const command = defineCommand({
  arguments: { agent: required('<agent>', 'the coding agent, e.g. claude or codex') },
  options: AGENT_OPTIONS,
  examples: ['abp env claude', 'abp env codex --engine sim', 'abp env gemini --json'],
  async run(context, { agent, ...values }) {
    const { output, homePath } = context;
    // The key lives in the server; a gateway of this command would be gone before the agent starts.
    if (openHome({ path: homePath }).readAddress() === undefined) {
      throw new CliError('no_server', 'no server is running for this home', { hint: 'Start one with abp serve; abp launch needs none.' });
    }
    const { openLocalRun } = await import('../runs/local.ts');
    const { agentEnvironment } = await import('../../runtime/runs/process/launch.ts');
    const options = runOptions(context, agent, values, { prompt: ' ' });
    return await withConfig(async () => {
      const { starter, gateway } = await openLocalRun(context);
      const ties = { gateway: async () => gateway.port, ownerPid: process.ppid };
      const found = await agentEnvironment(starter.check(options), starter.deps(ties));
      output.print(found, script);
      return EXITS.ok.code;
    });
  },
});

/** Lines for a shell; what cannot be a variable is a comment. */
function script({ env, args, command, traffic, runId }: AgentEnvironment): string {
  const where = traffic.kind === 'direct' ? `directly: ${traffic.reason}` : `to ${traffic.engine}`;
  return [
    `# ${command} ${where}; the key lasts as long as this shell (${runId})`,
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`),
    ...(args.length === 0 ? [] : [`# start it as: ${[command, ...args.map(quoted)].join(' ')}`]),
  ].join('\n');
}

function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
