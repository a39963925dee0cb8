import { resolve } from 'node:path';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import { type Context, defineCommand } from '../command.ts';
import { withConfig } from '../config.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { count, flag, list, optional } from '../parameter.ts';
import { applyRun, tellOfStage } from '../runs/apply.ts';
import { agentAsked, orderAsked } from '../runs/asked.ts';
import { follow, type Started } from '../runs/follow.ts';
import { type AskedEverywhere, openRun } from '../runs/open.ts';
import { AGENT_OPTIONS, dollarsOf, limitsOf, policyIn, runOptions, workspaceOf } from '../runs/options.ts';
import { orderIn } from '../runs/order.ts';
import { canAsk } from '../runs/person.ts';

export const command = defineCommand({
  arguments: {
    agent: optional('[agent]', 'the coding agent, e.g. claude or codex'),
    prompt: optional('[prompt]', 'what it should do; - reads it from the standard input'),
  },
  options: {
    ...AGENT_OPTIONS,
    workOrder: optional('--work-order <file>', 'run a work order instead of an agent and a prompt; - reads it from the standard input'),
    backend: optional('--backend <id>', 'with --work-order: engine:sim, adapter:claude, host:codex or sidecar:<name> (default: the best)'),
    system: optional('--system <text>', 'text added to the agent’s system prompt'),
    attach: list('--attach <file>', 'a file or image for the agent; repeatable'),
    timeout: count('--timeout <seconds>', 'end the run after this long'),
    inactivity: count('--inactivity <seconds>', 'end the run after this much silence'),
    maxTurns: count('--max-turns <number>', 'end the run after this many turns'),
    budget: optional('--budget <usd>', 'end the run when it has cost this much'),
    advisory: flag('--advisory', 'accept rules and a budget that nothing holds; the receipt says so'),
    sandbox: flag('--sandbox', 'confine the agent with the operating system, or do not start it'),
    limit: list('--limit <name=number>', 'a hard limit: processes, memory_mb, process_memory_mb or disk_mb; repeatable'),
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
    'abp run claude "run the tests" --staged --limit memory_mb=4096 --limit processes=500',
    'abp run --work-order order.json --backend sidecar:mine',
  ],
  async run(context, { agent, prompt, ...values }) {
    const { io } = context;
    if (values.workOrder !== undefined) {
      if (agent !== undefined) throw new CliError('usage', '--work-order holds the task', { hint: 'Leave the agent and the prompt out.' });
      return await orderShown(context, values.workOrder, values);
    }
    if (agent === undefined || prompt === undefined) {
      const hint = 'Say abp run claude "explain this repository", or abp run --work-order order.json.';
      throw new CliError('usage', 'an agent and a prompt are needed', { hint });
    }
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
      limits: limitsOf(values.limit),
      policy: policyIn(values.policy),
      workspace: workspaceOf(values),
      nonInteractive: asks ? undefined : true,
    });
    return await shown(context, { started: options, asked: everywhere(context, options), remote: values.remote, apply: values.apply });
  },
});

/** The agent is found by the PATH of this terminal, not by that of the server. */
function everywhere(context: Context, options: RunOptions): AskedEverywhere {
  const here = { ...options, cwd: options.cwd ?? process.cwd() };
  const there = { ...here, env: { PATH: context.io.env.PATH ?? '', ...options.env } };
  return { elsewhere: agentAsked(options), home: agentAsked(there), here: agentAsked(here) };
}

interface Shown {
  readonly started: Started;
  readonly asked: AskedEverywhere;
  readonly remote: string | undefined;
  readonly apply: boolean;
}

/** Shows a run until its end, and brings its changes back where that was asked for and it has succeeded. */
async function shown(context: Context, { started, asked, remote, apply }: Shown): Promise<number> {
  if (apply && remote !== undefined)
    throw new CliError('usage', '--apply works on this machine only', { hint: 'Run abp apply <run> where the backplane runs.' });
  let run = '';
  const code = await withConfig(() =>
    follow(context, started, async () => {
      const source = await openRun(context, asked, remote);
      run = source.runId;
      return source;
    }),
  );
  if (apply && code === EXITS.ok.code) return await applyRun(context, run, []);
  if (remote === undefined) await tellOfStage(context, run);
  return code;
}

async function orderShown(context: Context, file: string, { backend, engine, remote, apply }: OrderValues): Promise<number> {
  const order = await orderIn(context, file);
  const one = orderAsked(order, { backend, engine });
  const started = { agent: backend ?? 'the best backend', engine, cwd: order.workspace.root };
  return await shown(context, { started, asked: { elsewhere: one, home: one, here: one }, remote, apply });
}

interface OrderValues {
  readonly backend: string | undefined;
  readonly engine: string | undefined;
  readonly remote: string | undefined;
  readonly apply: boolean;
}
