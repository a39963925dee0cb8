import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import { parseAt } from '../../contract/border.ts';
import { workOrder as buildOrder, PolicyProfile, type WorkOrder } from '../../contract/work-orders/work-order.ts';
import { joinPolicies } from '../../runtime/policy/rules.ts';
import { type Context, defineCommand } from '../command.ts';
import { withConfig } from '../config.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { count, flag, list, optional } from '../parameter.ts';
import type { Contender, Race } from '../races/race.ts';
import { type Standing, standingDocument, standingOf, standings } from '../races/standing.ts';
import { dollarsOf, policyIn } from '../runs/options.ts';
import { orderIn } from '../runs/order.ts';
import { inputWords, short } from '../runs/words.ts';

/** So many work at once at least, also where the machine has fewer processors: agents mostly wait for models. */
const AT_ONCE = 3;

export const command = defineCommand({
  arguments: { task: optional('[task]', 'what each of them should do; - reads it from the standard input') },
  options: {
    agents: list(
      '--agents <names>',
      'who takes part: claude,codex,gemini; also engine:<id>, host:<id>, sidecar:<name>; name@model sets a model',
    ),
    workOrder: optional('--work-order <file>', 'a work order instead of a task; - reads it from the standard input'),
    check: optional('--check <command>', 'a command that judges each result in a copy of its stage, such as "npm test"'),
    checkTimeout: count('--check-timeout <seconds>', 'a check that takes longer has not passed (default: 600)'),
    cwd: optional('--cwd <dir>', 'the folder to work in (default: this one)'),
    engine: optional('--engine <id>', 'the engine that serves everybody’s model calls, e.g. gemini or sim'),
    model: optional('--model <name>', 'the model of everybody who has none of their own'),
    thinking: optional('--thinking <level>', 'low, medium, high or max'),
    timeout: count('--timeout <seconds>', 'end each run after this long'),
    maxTurns: count('--max-turns <number>', 'end each run after this many turns'),
    budget: optional('--budget <usd>', 'end each run when it has cost this much'),
    policy: optional('--policy <file>', 'a TOML file with what they may touch: deny_read, deny_write, allow_network, …'),
    include: list('--include <glob>', 'stage only these files; repeatable'),
    exclude: list('--exclude <glob>', 'do not stage these files; repeatable'),
    advisory: flag('--advisory', 'accept a sandbox, rules and a budget that nothing holds here; the receipts say so'),
    atOnce: count('--at-once <number>', 'how many work at the same time (default: one per processor, at least 3)'),
    tag: list('--tag <name>', 'a label for the receipts; repeatable'),
  },
  examples: [
    'abp race "fix the failing test" --agents claude,codex,gemini --check "npm test"',
    'abp race "write the text hello into the file hello.txt" --agents engine:sim,engine:sim:gemini --check "grep hello hello.txt"',
    'abp race --work-order order.json --agents claude@claude-opus-4-8,claude@claude-sonnet-5',
  ],
  async run(context, values) {
    const contenders = values.agents.map(contenderOf);
    if (contenders.length < 2) {
      throw new CliError('usage', 'a race needs at least two', { hint: 'Name them with --agents claude,codex,gemini.' });
    }
    const order = await orderOf(context, values);
    return await withConfig(() =>
      raced(context, { order, contenders, engine: values.engine, atOnce: values.atOnce ?? Math.max(AT_ONCE, availableParallelism()) }),
    );
  },
});

/** `claude`, `claude@model`, `engine:sim`; a bare name is a coding agent. Two of the same name are told apart by a number. */
function contenderOf(text: string, at: number, all: readonly string[]): Contender {
  const [backend = '', model] = text.split(/@(.*)/s);
  const repeated = all.filter((other) => other === text).length > 1;
  const name = repeated ? `${text}#${all.slice(0, at + 1).filter((other) => other === text).length}` : text;
  return { name, backend: backend.includes(':') ? backend : `adapter:${backend}`, ...(model !== undefined && { model }) };
}

interface OrderValues {
  readonly task: string | undefined;
  readonly workOrder: string | undefined;
  readonly check: string | undefined;
  readonly checkTimeout: number | undefined;
  readonly cwd: string | undefined;
  readonly model: string | undefined;
  readonly thinking: string | undefined;
  readonly timeout: number | undefined;
  readonly maxTurns: number | undefined;
  readonly budget: string | undefined;
  readonly policy: string | undefined;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly advisory: boolean;
  readonly tag: readonly string[];
}

/** The order that everybody gets. Each works in a stage and a sandbox of its own, so nobody is asked anything. */
async function orderOf(context: Context, values: OrderValues): Promise<WorkOrder> {
  const order = await taskOf(context, values);
  const policy =
    values.policy === undefined ? {} : parseAt(PolicyProfile.partial(), policyIn(values.policy), `the policy in ${values.policy}`);
  const told = ownOptions(values);
  const { config, workspace } = order;
  return {
    ...order,
    lane: 'patch_first',
    workspace: { ...workspace, mode: 'staged', ...listed('include', values.include), ...listed('exclude', values.exclude) },
    policy: parseAt(PolicyProfile, joinPolicies(order.policy, policy), 'policy'),
    config: {
      ...config,
      env: { PATH: context.io.env.PATH ?? '', ...config.env },
      model: values.model ?? config.model,
      max_turns: values.maxTurns ?? config.max_turns,
      max_budget_usd: dollarsOf(values.budget) ?? config.max_budget_usd,
      vendor: { ...config.vendor, ...told },
    },
  };
}

async function taskOf(context: Context, { task, workOrder, cwd }: OrderValues): Promise<WorkOrder> {
  if (workOrder !== undefined && task === undefined) return await orderIn(context, workOrder);
  if (task === undefined || workOrder !== undefined) {
    throw new CliError('usage', 'a task or a work order is needed, and not both', {
      hint: 'Say abp race "fix the failing test" --agents claude,codex.',
    });
  }
  const text = task === '-' ? await context.io.stdin() : task;
  return buildOrder(text)
    .workspace({ root: resolve(cwd ?? '.') })
    .build();
}

function ownOptions({ check, checkTimeout, thinking, timeout, advisory, tag }: OrderValues): JsonObject {
  return {
    'abp.sandbox': true,
    'abp.answerable': false,
    ...(check !== undefined && { 'abp.check': check }),
    ...(checkTimeout !== undefined && { 'abp.check_timeout_seconds': checkTimeout }),
    ...(thinking !== undefined && { 'abp.thinking': thinking }),
    ...(timeout !== undefined && { 'abp.timeout_seconds': timeout }),
    ...(advisory && { 'abp.enforcement': 'advisory' }),
    ...(tag.length > 0 && { 'abp.tags': [...tag] }),
  };
}

function listed<N extends string>(name: N, globs: readonly string[]): { [K in N]?: string[] } {
  // The one member has the name of the type parameter.
  return (globs.length === 0 ? {} : { [name]: [...globs] }) as { [K in N]?: string[] };
}

interface Racing {
  readonly order: WorkOrder;
  readonly contenders: readonly Contender[];
  readonly engine: string | undefined;
  readonly atOnce: number;
}

async function raced(context: Context, racing: Racing): Promise<number> {
  const [{ Race }, { openGateway }] = await Promise.all([import('../races/race.ts'), import('../runs/gateway.ts')]);
  const gateway = await openGateway(context);
  try {
    const server = { url: gateway.port.url, token: gateway.home.token };
    const race = new Race({ ...racing, server, note: progressOf(context, racing.contenders) });
    const leave = cancelOnSignal(race);
    const finishes = await race.run().finally(leave);
    const rows = finishes.map((finish) => standingOf(finish, gateway.home.path));
    const shown = {
      run_id: race.runId,
      work_order_id: racing.order.id,
      workspace: racing.order.workspace.root,
      entrants: rows.map(standingDocument),
    };
    context.output.print(shown, () => [standings(rows, context.output.paint), '', nextStep(rows, race.runId)].join('\n'));
    return race.cancelled ? EXITS.interrupted.code : exitOf(rows);
  } finally {
    await gateway.close();
  }
}

/** Somebody has done it: completed, and passed the check where there is one. */
const isGood = ({ status, check }: Standing): boolean => status === 'completed' && check?.passed !== false;

function exitOf(rows: readonly Standing[]): number {
  return rows.some(isGood) ? EXITS.ok.code : EXITS.agentFailed.code;
}

function nextStep(rows: readonly Standing[], race: string): string {
  const best = rows.find(isGood);
  const apply = best?.runId == null ? 'Nothing to apply.' : `Bring one back with abp apply <run>, such as abp apply ${best.runId}.`;
  return `${apply} abp receipts show ${race} names them all.`;
}

/** Lines for somebody who waits: who began, who uses which tool, who has ended. */
function progressOf({ io, output }: Context, contenders: readonly Contender[]): ConstructorParameters<typeof Race>[0]['note'] {
  if (output.json) return () => undefined;
  const width = Math.max(...contenders.map(({ name }) => name.length));
  return ({ name }, event) => {
    const words = typeof event === 'string' ? event : wordsOf(event);
    if (words !== undefined) io.stderr.write(`${output.paint.strong(name.padEnd(width))}  ${output.paint.faint(short(words, 160))}\n`);
  };
}

function wordsOf(event: Parameters<ConstructorParameters<typeof Race>[0]['note']>[1]): string | undefined {
  if (typeof event === 'string') return event;
  switch (event.type) {
    case 'tool_call_ready':
      return `▸ ${event.toolName} ${inputWords(event.input)}`;
    case 'shell_start':
      return `$ ${event.command}`;
    case 'shell_exit':
      return event.exitCode === null ? 'the command was ended' : `exit ${event.exitCode}`;
    case 'error':
      return event.message;
    case 'crash':
      return 'the agent crashed';
    case 'session_end':
    case 'aborted':
    case 'timeout':
    case 'turn_limit':
      return event.type.replace('_', ' ');
    default:
      return undefined;
  }
}

/** The first Ctrl-C ends every run, the second one the command. */
function cancelOnSignal(race: Race): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    if (race.cancelled) process.exit(signal === 'SIGINT' ? 130 : 143);
    race.cancel();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}
