import { frozen } from '../../adapters/define.ts';
import { type FoundCommand, findCommand } from '../../base/find-command.ts';
import { type CommandResult, runCommandNow } from '../../base/subprocess.ts';
import type { AgentCapabilities, AgentName } from '../../contract/runs/coding-agent.ts';
import { allowedEnvironment } from '../runs/process/environment.ts';
import type { AgentData, Environment, RunCommand } from './agent-data.ts';

/** A CLI that unpacks itself on its first start takes a while to tell its version. */
const PROBE_MS = 60_000;
/** A caller that cannot wait for an answer stands still for no longer than this; what is not known by then is checked before the start. */
const PROBE_NOW_MS = 10_000;

/** Above every version of every agent. */
const NEWEST = '99999.0.0';

/** An agent as it was found on this machine. */
export interface Detection {
  readonly agent: AgentName;
  readonly installed: boolean;
  readonly version?: string;
  /** Where its command is. */
  readonly path?: string;
  /** The abilities of this version; those of the profile where there is no version. */
  readonly effective: AgentCapabilities;
  /** That the adapter was not tried with this version. */
  readonly untested?: string;
  /** Why it counts as not installed although a command of that name is there. */
  readonly problem?: string;
}

export interface DetectorOptions {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly run: RunCommand;
  readonly runNow?: typeof runCommandNow;
}

/** Finds agents and asks each for its version, once for as long as its file stays the same. */
export class Detector {
  readonly #options: DetectorOptions;
  /** By the file of the command: its path, size and time. */
  readonly #asked = new Map<string, Promise<Detection>>();
  readonly #settled = new Map<string, Detection>();
  readonly #last = new Map<AgentName, Detection>();
  /** Of programs that did not come to an answer: a busy machine, or one on which they are being installed, gives another one later. */
  readonly #passing = new WeakSet<Detection>();

  constructor(options: DetectorOptions) {
    this.#options = options;
  }

  /** The abilities that the last detection found, else those of the profile. */
  effective(agent: Pick<AgentData, 'agent' | 'capabilities'>): AgentCapabilities {
    return this.#last.get(agent.agent)?.effective ?? agent.capabilities;
  }

  /**
   * The abilities of the version on the PATH of `env`, for a caller that needs them now: the same answer the first time as ever after.
   * A program that nobody has asked yet is asked while the process waits. Where that takes too long, nothing is refused yet that some
   * version can do: the run is checked again before it starts the agent.
   */
  known(agent: AgentData, env: Environment = this.#options.env): AgentCapabilities {
    const found = findCommand(agent.cliCommand, env, this.#options.platform);
    if (found === undefined) return agent.capabilities;
    const detection = this.#settled.get(keyOf(agent, found)) ?? this.#probeNow(agent, found, env);
    return detection?.effective ?? effectiveOf(agent, NEWEST);
  }

  /** Looks for the command on the PATH of `env`. */
  async detect(
    agent: AgentData,
    { env = this.#options.env, fresh = false }: { env?: Environment; fresh?: boolean } = {},
  ): Promise<Detection> {
    const found = findCommand(agent.cliCommand, env, this.#options.platform);
    if (found === undefined) return this.#settle({ agent: agent.agent, installed: false, effective: agent.capabilities });
    const key = keyOf(agent, found);
    const settled = this.#settled.get(key);
    if (!fresh && settled !== undefined) return this.#settle(settled);
    // Somebody who wants it fresh shares the answer to a question under way: many at once start one program.
    const asking = this.#asked.get(key) ?? this.#probe(agent, found.path, env);
    this.#asked.set(key, asking);
    return this.#settle(await asking, key);
  }

  #settle(detection: Detection, key?: string): Detection {
    this.#last.set(detection.agent, detection);
    if (key !== undefined) {
      if (!this.#passing.has(detection)) this.#settled.set(key, detection);
      this.#asked.delete(key);
    }
    return detection;
  }

  async #probe(agent: AgentData, path: string, env: Environment): Promise<Detection> {
    const options = { env: allowedEnvironment(env), timeoutMs: PROBE_MS };
    return await this.#options.run(path, agent.detect.versionArgs, options).then(
      (printed) => (printed.signal === null ? versionIn(agent, path, printed) : this.#unanswered(agent, path, tookTooLong(agent))),
      (error: unknown) => this.#unanswered(agent, path, notStarted(agent, error)),
    );
  }

  #unanswered(agent: AgentData, path: string, problem: string): Detection {
    const detection = notThere(agent, path, problem);
    this.#passing.add(detection);
    return detection;
  }

  #probeNow(agent: AgentData, found: FoundCommand, env: Environment): Detection | undefined {
    const { runNow = runCommandNow } = this.#options;
    try {
      const printed = runNow(found.path, agent.detect.versionArgs, { env: allowedEnvironment(env), timeoutMs: PROBE_NOW_MS });
      return this.#settle(versionIn(agent, found.path, printed), keyOf(agent, found));
    } catch {
      // It takes too long or does not start: the run asks again before it starts the agent, with patience, and says why.
      return undefined;
    }
  }
}

function keyOf({ agent }: AgentData, { fingerprint }: FoundCommand): string {
  return `${agent} ${fingerprint}`;
}

function versionIn(agent: AgentData, path: string, { stdout, stderr }: Pick<CommandResult, 'stdout' | 'stderr'>): Detection {
  const { detect, cliCommand, displayName } = agent;
  const version = detect.version(stdout) ?? detect.version(stderr);
  if (version !== undefined) {
    const untested = detect.untested?.(version);
    const remark = untested === undefined ? {} : { untested };
    return { agent: agent.agent, installed: true, version, path, effective: effectiveOf(agent, version), ...remark };
  }
  return notThere(agent, path, `${cliCommand} ${detect.versionArgs.join(' ')} does not print a version of ${displayName}`);
}

function notThere({ agent, capabilities }: AgentData, path: string, problem: string): Detection {
  return { agent, installed: false, path, effective: capabilities, problem };
}

function tookTooLong({ cliCommand, detect }: AgentData): string {
  return `${cliCommand} ${detect.versionArgs.join(' ')} was ended before it had told its version: it may take ${PROBE_MS / 1000} s`;
}

function notStarted({ cliCommand }: AgentData, error: unknown): string {
  return `${cliCommand} cannot be started: ${error instanceof Error ? error.message : String(error)}`;
}

function effectiveOf({ capabilities, detect }: AgentData, version: string): AgentCapabilities {
  const differs = detect.effective(version);
  return Object.keys(differs).length === 0 ? capabilities : frozen({ ...capabilities, ...differs });
}
