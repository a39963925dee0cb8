import { frozen } from '../../adapters/define.ts';
import { findCommand } from '../../base/find-command.ts';
import type { AgentCapabilities, AgentName } from '../../contract/runs/coding-agent.ts';
import { allowedEnvironment } from '../runs/process/environment.ts';
import type { AgentData, Environment, RunCommand } from './agent-data.ts';

/** A CLI that unpacks itself on its first start takes a while to tell its version. */
const PROBE_MS = 60_000;

/** What was found of an agent on this machine. */
export interface Detection {
  readonly agent: AgentName;
  readonly installed: boolean;
  readonly version?: string;
  /** Where its command is. */
  readonly path?: string;
  /** What this version can do; what the profile says where there is no version. */
  readonly effective: AgentCapabilities;
  /** Why it counts as not installed although a command of that name is there. */
  readonly problem?: string;
}

interface Remembered {
  readonly fingerprint: string;
  readonly detection: Promise<Detection>;
}

export interface DetectorOptions {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly run: RunCommand;
}

/** Finds agents and asks each for its version, once for as long as its file stays the same. */
export class Detector {
  readonly #options: DetectorOptions;
  readonly #remembered = new Map<AgentName, Remembered>();
  readonly #settled = new Map<AgentName, Detection>();

  constructor(options: DetectorOptions) {
    this.#options = options;
  }

  /** What the last detection found this version to be able to do, else what the profile says. */
  effective(agent: Pick<AgentData, 'agent' | 'capabilities'>): AgentCapabilities {
    return this.#settled.get(agent.agent)?.effective ?? agent.capabilities;
  }

  /** Looks for the command on the PATH of `env`. */
  async detect(
    agent: AgentData,
    { env = this.#options.env, fresh = false }: { env?: Environment; fresh?: boolean } = {},
  ): Promise<Detection> {
    const found = findCommand(agent.cliCommand, env, this.#options.platform);
    if (found === undefined) return this.#settle({ agent: agent.agent, installed: false, effective: agent.capabilities });
    const before = this.#remembered.get(agent.agent);
    if (!fresh && before?.fingerprint === found.fingerprint) return await before.detection;
    const detection = this.#probe(agent, found.path, env);
    this.#remembered.set(agent.agent, { fingerprint: found.fingerprint, detection });
    return this.#settle(await detection);
  }

  #settle(detection: Detection): Detection {
    this.#settled.set(detection.agent, detection);
    return detection;
  }

  async #probe(agent: AgentData, path: string, env: Environment): Promise<Detection> {
    const { detect, capabilities, cliCommand } = agent;
    const missing = (problem: string): Detection => ({ agent: agent.agent, installed: false, path, effective: capabilities, problem });
    try {
      const { stdout, stderr } = await this.#options.run(path, detect.versionArgs, { env: allowedEnvironment(env), timeoutMs: PROBE_MS });
      const version = detect.version(stdout) ?? detect.version(stderr);
      if (version === undefined)
        return missing(`${cliCommand} ${detect.versionArgs.join(' ')} does not print a version of ${agent.displayName}`);
      return { agent: agent.agent, installed: true, version, path, effective: effectiveOf(agent, version) };
    } catch (error) {
      return missing(`${cliCommand} cannot be started: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

function effectiveOf({ capabilities, detect }: AgentData, version: string): AgentCapabilities {
  const differs = detect.effective(version);
  return Object.keys(differs).length === 0 ? capabilities : frozen({ ...capabilities, ...differs });
}
