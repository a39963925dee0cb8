import { parseRunOptions } from '../contract/runs/run-options.ts';
import { openRunGateway, type RunGateway, type RunGatewayOptions } from '../gateway/run-plane/run-gateway.ts';
import { homePath } from '../home/home.ts';
import type { CodingAgents } from '../runtime/coding-agents/coding-agents.ts';
import type { RunProfiles } from '../runtime/profiles.ts';
import type { LocalRunOptions, RunHandle } from '../runtime/runs/handle.ts';
import { RunStarter } from '../runtime/runs/run-starter.ts';

/** A gateway of our own stays this long after the last run, for the next one. */
const LINGER_MS = 250;

/** Runs of coding agents in this process. */
export interface LocalRuns {
  /** Checks the options by a throw, then starts; the handle is there before anything has happened. */
  run(options: LocalRunOptions): RunHandle;
  /** Resolves when every run has ended and the gateway that was started for them is closed. */
  close(): Promise<void>;
}

export interface LocalRunsOptions extends RunGatewayOptions {
  readonly agents: CodingAgents;
  /** The profiles that `profile` can name; absent: none are known. */
  readonly profiles?: Pick<RunProfiles, 'apply'>;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export function createLocalRuns({ agents, profiles, env = process.env, ...where }: LocalRunsOptions): LocalRuns {
  const starter = new RunStarter({ agents, homePath: homePath(where.homePath), env });
  const gateway = new SharedGateway(where);
  const running = new Set<Promise<unknown>>();
  return {
    run({ onApprovalRequest, onInputRequired, hooks, ...wishes }) {
      const options = parseRunOptions(profiles?.apply(wishes) ?? wishes);
      const callbacks = {
        ...(onApprovalRequest && { onApprovalRequest }),
        ...(onInputRequired && { onInputRequired }),
        ...(hooks && { hooks }),
      };
      const gated = starter.check({ ...options, ...callbacks });
      const handle = starter.start(gated, { gateway: async () => (await gateway.take()).port });
      const ended = handle.result().finally(() => {
        running.delete(ended);
        gateway.leave();
      });
      running.add(ended);
      return handle;
    },
    async close() {
      await Promise.all(running);
      await gateway.close();
    },
  };
}

/** One gateway for all runs of a client; it is closed when nobody uses it, so that it does not hold the process. */
class SharedGateway {
  readonly #where: RunGatewayOptions;
  #open: Promise<RunGateway> | undefined;
  #users = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(where: RunGatewayOptions) {
    this.#where = where;
  }

  take(): Promise<RunGateway> {
    clearTimeout(this.#timer);
    this.#users += 1;
    this.#open ??= openRunGateway(this.#where);
    return this.#open;
  }

  leave(): void {
    this.#users = Math.max(0, this.#users - 1);
    if (this.#users === 0) this.#timer = setTimeout(() => void this.close(), LINGER_MS);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const open = this.#open;
    if (open === undefined || this.#users > 0) return;
    this.#open = undefined;
    await (await open.catch(() => undefined))?.close();
  }
}
