import { dollars } from '../coding-agents/facts.ts';
import { defineCommand } from '../command.ts';
import { withConfig } from '../config.ts';
import { CliError } from '../failure.ts';
import { optional, required } from '../parameter.ts';
import { AGENT_OPTIONS, runOptions } from '../runs/options.ts';

export const command = defineCommand({
  arguments: {
    agent: required('<agent>', 'the coding agent, e.g. claude or codex'),
    prompt: optional('[prompt]', 'what it should begin with'),
  },
  options: AGENT_OPTIONS,
  examples: ['abp launch claude', 'abp launch codex --engine claude --model claude-sonnet-4-5', 'abp launch gemini --session latest'],
  async run(context, { agent, prompt, ...values }) {
    const { io, output } = context;
    if (process.stdin.isTTY !== true || io.stdout.isTTY !== true) {
      throw new CliError('usage', 'launch shows the agent’s own screen and needs a terminal', { hint: 'Use abp run without one.' });
    }
    const { openLocalRun } = await import('../runs/local.ts');
    const { launchAgent } = await import('../../runtime/runs/process/launch.ts');
    // Adapters take a blank prompt for none.
    const options = runOptions(context, agent, values, { prompt: prompt ?? ' ' });
    return await withConfig(async () => {
      const { starter, gateway } = await openLocalRun(context);
      try {
        const deps = starter.deps({ gateway: async () => gateway.port });
        const { runId, exit, tokenUsage, cost } = await launchAgent(starter.check(options), deps, ({ traffic, spec, detected }) => {
          const where = traffic.kind === 'direct' ? `directly: ${traffic.reason}` : `through ${gateway.port.url} to ${traffic.engine}`;
          io.stderr.write(`${output.paint.faint(`${agent} ${where}`)}\n`);
          if (detected.untested !== undefined) io.stderr.write(`${output.paint.warn(detected.untested)}\n`);
          for (const { option, reason } of spec.unhonoured)
            io.stderr.write(`${output.paint.warn(`${option} is not honoured: ${reason}`)}\n`);
        });
        const spent = [`${tokenUsage.total.toLocaleString('en-US')} tokens`, ...(cost === null ? [] : [dollars(cost.totalUsd)])];
        io.stderr.write(`${output.paint.faint(`${agent} ended · ${spent.join(' · ')} · ${runId}`)}\n`);
        return exit.code ?? 1;
      } finally {
        await gateway.close();
      }
    });
  },
});
