import { systemClock } from '../../base/clock.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { CodingAgents } from '../coding-agents/coding-agents.ts';
import type { GatewayPort } from '../gateway-port.ts';
import type { AgentKnowledge, RunPlace, RunTies } from './deps.ts';
import { type GatedRun, passGates, passGatesInstalled } from './gated-run.ts';
import type { LocalRunOptions, RunHandle } from './handle.ts';
import { Run } from './run.ts';
import { chooseTraffic, type Traffic } from './traffic.ts';

export interface RunStarterOptions {
  readonly agents: CodingAgents;
  /** The home of this installation, where folders of runs are made. */
  readonly homePath: string;
  /** The environment by which agents are found, and that they get a part of. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Starts the coding agents of one process: the server has one, every `createClient` has one, and so have the commands that start an agent
 * themselves. First the gates, by a throw; then the run, whose result says what was found out later.
 */
export class RunStarter {
  readonly #agents: CodingAgents;
  readonly #place: RunPlace;

  constructor({ agents, homePath, env = process.env }: RunStarterOptions) {
    this.#agents = agents;
    this.#place = { agents: agents.knowledge, homePath, env, clock: systemClock };
  }

  get homePath(): string {
    return this.#place.homePath;
  }

  /** At once: a program that nobody has asked for its version is asked while the process waits. */
  check(options: LocalRunOptions): GatedRun {
    return passGates(this.#agents.adapters.get(options.agent), options, this.#place);
  }

  /** For a process that serves others meanwhile. */
  async checkInstalled(options: LocalRunOptions): Promise<GatedRun> {
    return await passGatesInstalled(this.#agents.adapters.get(options.agent), options, this.#place);
  }

  /** Where the model calls of a run would go, for one whose policy depends on it. */
  async trafficOf({ adapter, options }: GatedRun, port: GatewayPort, agents: AgentKnowledge = this.#place.agents): Promise<Traffic> {
    return await chooseTraffic(adapter, options, port, agents.wanted(adapter, options));
  }

  /** The handle is there before anything has happened. `runId` is one that is taken already. */
  start(run: GatedRun, ties: RunTies, runId?: RunId): RunHandle {
    return new Run(run, this.deps(ties), runId);
  }

  /** For a start that shows no events: the agent's own screen, or its variables for a shell. */
  deps<T extends RunTies>(ties: T): RunPlace & T {
    return { ...this.#place, ...ties };
  }
}
