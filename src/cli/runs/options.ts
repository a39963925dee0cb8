import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse as parseToml, TomlError } from 'smol-toml';
import { pathFault } from '../../base/paths/look-at.ts';
import { OrderLimits, runLimits } from '../../contract/runs/run-limits.ts';
import { parseRunOptions, type RunOptions } from '../../contract/runs/run-options.ts';
import { homePath } from '../../home/home.ts';
import { createProfiles } from '../../runtime/profiles.ts';
import type { Context, Parameters } from '../command.ts';
import { CliError } from '../failure.ts';
import { count, flag, list, optional } from '../parameter.ts';

/** The options that `run` and `launch` share. */
export const AGENT_OPTIONS = {
  cwd: optional('--cwd <dir>', 'the folder to work in (default: this one)'),
  engine: optional('--engine <id>', 'the engine that serves the agent’s model calls, e.g. gemini or sim'),
  model: optional('--model <name>', 'the model; needed where the engine is not the agent’s own'),
  thinking: optional('--thinking <level>', 'low, medium, high or max'),
  thinkingBudget: count('--thinking-budget <tokens>', 'thinking in tokens; beats --thinking'),
  approval: optional('--approval <mode>', 'yolo, prompt or deny'),
  profile: optional('--profile <name>', 'options kept in profiles/<name>.json of the home, or of .abp in the folder'),
  session: optional('--session <id>', 'go on with an earlier session of the agent'),
  fork: optional('--fork <id>', 'branch off an earlier session'),
  direct: flag('--direct', 'leave the agent’s model calls alone: no gateway'),
  strict: flag('--strict', 'refuse what an engine can only approximate'),
  tag: list('--tag <name>', 'a label for the receipts; repeatable'),
} as const satisfies Parameters;

/** The values of those options. */
export interface AgentValues {
  readonly cwd: string | undefined;
  readonly engine: string | undefined;
  readonly model: string | undefined;
  readonly thinking: string | undefined;
  readonly thinkingBudget: number | undefined;
  readonly approval: string | undefined;
  readonly profile: string | undefined;
  readonly session: string | undefined;
  readonly fork: string | undefined;
  readonly direct: boolean;
  readonly strict: boolean;
  readonly tag: readonly string[];
}

/** Run options of a command line, over those of a profile where it names one; what is not said is left out. */
export function runOptions(context: Context, agent: string, values: AgentValues, more: Readonly<Record<string, unknown>>): RunOptions {
  const { cwd, engine, model, thinking, thinkingBudget, approval, session, fork, direct, strict, tag, profile } = values;
  const wishes = {
    agent,
    profile,
    cwd: cwd === undefined ? undefined : resolve(cwd),
    engine,
    model,
    thinkingEffort: thinking,
    thinkingBudgetTokens: thinkingBudget,
    approvalMode: approval,
    sessionId: session,
    forkSessionId: fork,
    direct: direct ? true : undefined,
    compatibility: strict ? 'strict' : undefined,
    tags: tag.length === 0 ? undefined : [...tag],
    ...more,
  };
  const profiles = createProfiles({ homePath: homePath(context.homePath), projectPath: wishes.cwd ?? process.cwd() });
  // The name has done its work here: another machine has profiles of its own.
  const { profile: _name, ...options } = profiles.apply(wishes);
  return parseRunOptions(Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)));
}

/** An amount of US dollars. */
export function dollarsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\$?\d+(\.\d+)?$/.test(text) ? Number(text.replace('$', '')) : Number.NaN;
  if (value > 0) return value;
  throw new CliError('usage', `'${text}' is not an amount of dollars`, { hint: 'Such as --budget 0.50.' });
}

/** A policy in a file of TOML, with the members of a work order's policy. */
export function policyIn(file: string | undefined): unknown {
  if (file === undefined) return undefined;
  try {
    return parseToml(readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof TomlError ? `is not TOML: ${error.message.split('\n')[0]}` : pathFault(error);
    throw new CliError('usage', `the policy in ${file} ${reason}`, {
      hint: 'It is TOML with lists such as deny_read = ["**/.env"]; docs/sandbox.md has examples.',
      cause: error,
    });
  }
}

/** Limits such as `memory_mb=2048`; undefined where there are none. */
export function limitsOf(entries: readonly string[]): object | undefined {
  if (entries.length === 0) return undefined;
  const said = Object.fromEntries(
    entries.map((entry) => {
      const [, name = '', number = ''] = /^([a-z_]+)=(\d+)$/.exec(entry) ?? [];
      return [name, Number(number)];
    }),
  );
  const checked = OrderLimits.safeParse(said);
  if (checked.success) return runLimits(checked.data);
  const names = Object.keys(OrderLimits.shape).join(', ');
  throw new CliError('usage', `'${entries.join(' ')}' is not a limit`, { hint: `Such as --limit memory_mb=2048; there are ${names}.` });
}

/** Where the agent works; undefined means in the folder itself. */
export function workspaceOf(values: {
  readonly staged: boolean;
  readonly apply: boolean;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}): object | undefined {
  const { staged, apply, include, exclude } = values;
  if (!staged && !apply) {
    if (include.length + exclude.length === 0) return undefined;
    throw new CliError('usage', '--include and --exclude are about a staged copy', { hint: 'Add --staged.' });
  }
  return { mode: 'staged', include, exclude };
}
