import { resolve } from 'node:path';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import { openHome } from '../../home/home.ts';
import { type Context, defineCommand } from '../command.ts';
import { withConfig } from '../config.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { count, flag, list, optional, required } from '../parameter.ts';
import { applyRun } from '../runs/apply.ts';
import { canAsk, follow } from '../runs/follow.ts';
import { AGENT_OPTIONS, dollarsOf, policyIn, runOptions, workspaceOf } from '../runs/options.ts';
import type { RunSource } from '../runs/source.ts';

export const command = defineCommand({
  arguments: {
    agent: required('<agent>', 'the coding agent, e.g. claude or codex'),
    prompt: required('<prompt>', 'what it should do; - reads it from the standard input'),
  },
  options: {
    ...AGENT_OPTIONS,
    system: optional('--system <text>', 'text added to the agent’s system prompt'),
    attach: list('--attach <file>', 'a file or image for the agent; repeatable'),
    timeout: count('--timeout <seconds>', 'end the run after this long'),
    inactivity: count('--inactivity <seconds>', 'end the run after this much silence'),
    maxTurns: count('--max-turns <number>', 'end the run after this many turns'),
    budget: optional('--budget <usd>', 'end the run when it has cost this much'),
    advisory: flag('--advisory', 'accept rules and a budget that nothing holds; the receipt says so'),
    sandbox: flag('--sandbox', 'confine the agent with the operating system, or do not start it'),
    policy: optional('--policy <file>', 'a TOML file with what the agent may touch: deny_read, deny_write, allow_network, …'),
    staged: flag('--staged', 'let the agent work in a copy; abp apply <run> brings its changes back'),
    include: list('--include <glob>', 'with --staged: only these files; repeatable'),
    exclude: list('--exclude <glob>', 'with --staged: not these files; repeatable'),
    apply: flag('--apply', 'work in a copy, and bring the changes back when the agent has succeeded'),
    project: optional('--project <id>', 'what the run belongs to; its receipts have the tag project:<id>'),
    remote: optional('--remote <url>', 'run it on another backplane; ABP_KEY is its key'),
  },
  examples: [
    'abp run claude "explain this repository"',
    'abp run codex "fix the failing test" --approval yolo --budget 0.50',
    'abp run claude "hello" --engine sim --json',
    'abp run codex "tidy up" --staged --sandbox --policy policy.toml',
  ],
  async run(context, { agent, prompt, ...values }) {
    const { io } = context;
    const seconds = (value: number | undefined): number | undefined => (value === undefined ? undefined : value * 1000);
    const asks = canAsk(io) && !context.output.json;
    const options = runOptions(context, agent, values, {
      prompt: prompt === '-' ? await io.stdin() : prompt,
      systemPrompt: values.system,
      systemPromptMode: values.system === undefined ? undefined : 'append',
      attachments: values.attach.length === 0 ? undefined : values.attach.map((file) => ({ filePath: resolve(file) })),
      approvalMode: values.approval ?? (asks ? 'prompt' : undefined),
      timeout: seconds(values.timeout),
      inactivityTimeout: seconds(values.inactivity),
      maxTurns: values.maxTurns,
      maxBudgetUsd: dollarsOf(values.budget),
      enforcement: values.advisory ? 'advisory' : undefined,
      projectId: values.project,
      sandbox: values.sandbox ? true : undefined,
      policy: policyIn(values.policy),
      workspace: workspaceOf(values),
      nonInteractive: asks ? undefined : true,
    });
    if (!values.apply) return await withConfig(() => follow(context, options, () => open(context, options, values.remote)));
    if (values.remote !== undefined)
      throw new CliError('usage', '--apply works on this machine only', { hint: 'Run abp apply <run> where the backplane runs.' });
    let run = '';
    const code = await withConfig(() =>
      follow(context, options, async () => {
        const source = await open(context, options, undefined);
        run = source.runId;
        return source;
      }),
    );
    return code === EXITS.ok.code ? await applyRun(context, run, []) : code;
  },
});

/** On another backplane, on the server of the home, or in this process. */
async function open(context: Context, options: RunOptions, remote: string | undefined): Promise<RunSource> {
  const { serverRun } = await import('../runs/server-run.ts');
  if (remote !== undefined) return await serverRun({ url: remote.replace(/\/$/, ''), key: context.io.env.ABP_KEY }, options);
  const here = { ...options, cwd: options.cwd ?? process.cwd() };
  const home = openHome({ path: context.homePath });
  const address = home.readAddress();
  // The agent is found by the PATH of this terminal, not by that of the server.
  const there = { ...here, env: { PATH: context.io.env.PATH ?? '', ...options.env } };
  if (address !== undefined) {
    try {
      return await serverRun({ url: address.url, key: home.token }, there);
    } catch (error) {
      // The server of another command that has just ended; its run was not taken, so the next one may have it.
      if (!(error instanceof CliError && error.code === 'no_server') || home.readAddress()?.url === address.url) throw error;
    }
  }
  const { insideRun } = await import('../runs/source.ts');
  return (await insideRun(context, here)) ?? (await open(context, options, remote));
}
