import type { InstallMethod, Platform } from '../../contract/runs/coding-agent.ts';
import { AgentMuxError } from '../../contract/runs/run-error.ts';
import { allowedEnvironment } from '../runs/process/environment.ts';
import { type AgentData, type Environment, lastWords, type RunCommand } from './agent-data.ts';

const CHECK_MS = 60_000;
const INSTALL_MS = 30 * 60_000;

/** One way to install an agent; `date` stands on the one that works today where the profile's own do not. */
export type InstallInstruction = InstallMethod & { readonly date?: string };

/** The ways of a platform: those of the profile, then the dated one. */
export function installInstructions({ capabilities, today }: AgentData, platform: Platform): readonly InstallInstruction[] {
  const ways: readonly InstallInstruction[] = today === undefined ? capabilities.installMethods : [...capabilities.installMethods, today];
  return ways.filter((way) => way.platform === 'all' || way.platform === platform);
}

export interface Installing {
  readonly agent: AgentData;
  readonly platform: Platform;
  readonly env: Environment;
  readonly run: RunCommand;
  /** Which way: its type. Default: today's, else the first that a machine can do alone. */
  readonly method?: string | undefined;
}

/** Installs an agent: the prerequisite first, then the command. Returns the way it went. */
export async function installAgent(f: Installing): Promise<InstallInstruction> {
  const way = chooseWay(f);
  const { agent } = f.agent;
  if (way.prerequisiteCheck !== undefined && !(await succeeds(f, way.prerequisiteCheck))) {
    const needs = way.notes === undefined ? '' : `: ${way.notes}`;
    throw new AgentMuxError(
      'AGENT_NOT_INSTALLED',
      `'${way.prerequisiteCheck}' failed, so ${f.agent.displayName} cannot be installed${needs}`,
      {
        agent,
        command: way.command,
        prerequisite: way.prerequisiteCheck,
      },
    );
  }
  const result = await shell(f, way.command, INSTALL_MS);
  if (result.code === 0) return way;
  throw new AgentMuxError('AGENT_NOT_INSTALLED', `'${way.command}' failed with ${result.code ?? result.signal}`, {
    agent,
    command: way.command,
    output: lastWords(result, 20),
  });
}

export function chooseWay({ agent, platform, method }: Pick<Installing, 'agent' | 'platform' | 'method'>): InstallInstruction {
  const ways = installInstructions(agent, platform);
  const dated = ways.find((way) => way.date !== undefined);
  const chosen =
    method === undefined ? (dated ?? ways.find((way) => way.type !== 'manual') ?? ways[0]) : ways.find((way) => way.type === method);
  if (chosen === undefined) {
    const known = ways.map((way) => way.type).join(', ');
    throw new AgentMuxError(
      'AGENT_NOT_INSTALLED',
      `There is no such way to install ${agent.displayName} on ${platform}; known are: ${known || 'none'}`,
      {
        agent: agent.agent,
      },
    );
  }
  if (chosen.type !== 'manual') return chosen;
  throw new AgentMuxError('AGENT_NOT_INSTALLED', `${agent.displayName} is installed by hand on ${platform}: ${chosen.command}`, {
    agent: agent.agent,
    command: chosen.command,
  });
}

async function succeeds(f: Installing, command: string): Promise<boolean> {
  const { code } = await shell(f, command, CHECK_MS);
  return code === 0;
}

/** Commands of profiles are constants with pipes and quotes in them. npm and pip read their own settings from variables. */
async function shell({ platform, env, run }: Installing, command: string, timeoutMs: number): ReturnType<RunCommand> {
  const own = Object.keys(env).filter((name) => /^(?:npm_config|pip)_/i.test(name));
  const [program, args] =
    platform === 'win32' ? (['cmd.exe', ['/d', '/s', '/c', command]] as const) : (['/bin/sh', ['-c', command]] as const);
  return await run(program, args, { env: allowedEnvironment(env, own), timeoutMs });
}
