import { isRunning, type ProcessIdentity } from '../../base/process-table.ts';
import type { RunId } from '../../contract/run-id.ts';
import { runsFolder, sweepRuns } from '../../runtime/runs/process/run-folder.ts';
import type { Gateway } from '../gateway.ts';
import { runPort } from './run-port.ts';

const LOOK_MS = 2000;

interface Attached {
  readonly owner: ProcessIdentity;
  readonly startedAt: number;
  /** Whether the end of the owner is the proper end of the run. */
  readonly endsWithOwner: boolean;
}

/** The runs that other processes of this home drive; their model traffic and their receipts are here. */
export function attachedRunsOf(gateway: Gateway): AttachedRuns {
  gateway.runPlane.attached ??= new AttachedRuns(gateway);
  return gateway.runPlane.attached;
}

/** Watches over the processes that drive attached runs: one that is killed cannot say that its run is over. */
export class AttachedRuns {
  readonly #gateway: Gateway;
  readonly #runs = new Map<RunId, Attached>();
  readonly #idle: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    gateway.closing.addEventListener('abort', () => clearInterval(this.#timer));
  }

  add(run: RunId, attached: Attached): void {
    this.#runs.set(run, attached);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS);
  }

  remove(run: RunId): void {
    this.#runs.delete(run);
    if (this.#runs.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Resolves when no run is attached. */
  async idle(): Promise<void> {
    if (this.#runs.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #look(): void {
    for (const [run, attached] of this.#runs) {
      if (isRunning(attached.owner)) continue;
      this.remove(run);
      this.#end(run, attached).catch((error: unknown) => this.#gateway.log.error({ error, run }, 'an attached run could not be closed'));
    }
  }

  async #end(run: RunId, { startedAt, endsWithOwner }: Attached): Promise<void> {
    // Its files, and whatever the agent left running.
    sweepRuns(runsFolder(this.#gateway.home.path));
    const port = runPort(this.#gateway);
    const spend = await port.spent(run, 'ended');
    await port.dropRunKey(run);
    const now = Date.now();
    await port.closed({
      run,
      at: now,
      status: endsWithOwner ? 'completed' : 'failed',
      reason: endsWithOwner ? null : 'interrupted',
      error: null,
      upstreamModel: null,
      eventCount: 0,
      usage: spend.calls === 0 ? null : spend.usage,
      toolCalls: [],
      cost: spend.nanoUsd === null ? null : { nano_usd: spend.nanoUsd, price_version: spend.priceVersion ?? '' },
      lastByteMs: Math.max(0, now - startedAt),
      workspaceDelta: null,
      backendVersion: null,
    });
  }
}
