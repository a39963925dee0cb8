import { isoTime } from '../base/clock.ts';
import type { PendingReceipt } from '../contract/receipts/receipt.ts';
import { type RunId, runUuid } from '../contract/run-id.ts';

interface LiveRun {
  readonly startedAt: number;
  readonly keyId: string | null;
  /** Undefined until it has. */
  endedAt: number | undefined;
}

/** Runs whose receipt may not be in the database yet. */
export class LiveRuns {
  readonly #runs = new Map<RunId, LiveRun>();
  #cutting = false;

  /** The server ends what has not ended by itself: from now on a connection that is gone was cut by us. */
  cut(): void {
    this.#cutting = true;
  }

  get isCutting(): boolean {
    return this.#cutting;
  }

  begin(run: RunId, startedAt: number, keyId: string | null): void {
    this.#runs.set(run, { startedAt, keyId, endedAt: undefined });
  }

  end(run: RunId): void {
    const live = this.#runs.get(run);
    if (live !== undefined) live.endedAt ??= Date.now();
  }

  /** The run did not begin after all. */
  forget(run: RunId): void {
    this.#runs.delete(run);
  }

  /** The database has rows for these runs; an ended one needs no memory any more. */
  settled(runs: readonly RunId[]): void {
    for (const run of runs) if (this.#runs.get(run)?.endedAt !== undefined) this.#runs.delete(run);
  }

  keyOf(run: RunId): string | null | undefined {
    return this.#runs.get(run)?.keyId;
  }

  /** Whether receipts of calls made with this key may still be on their way. */
  hasCallsOf(keyId: string): boolean {
    return this.#runs.values().some((run) => run.keyId === keyId);
  }

  /** When the first of them began; infinity where there is none. They are remembered in that order. */
  oldestStart(): number {
    return this.#runs.values().next().value?.startedAt ?? Number.POSITIVE_INFINITY;
  }

  pending(run: RunId): PendingReceipt | undefined {
    const live = this.#runs.get(run);
    if (live === undefined) return undefined;
    return { id: runUuid(run), run_id: run, status: 'running', started_at: isoTime(live.startedAt) };
  }

  /** Resolves when every run has ended, or when the time is over. */
  async idle(ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    while (performance.now() < deadline && [...this.#runs.values()].some((run) => run.endedAt === undefined)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Runs that have ended and are not known to be in the database, and how long the oldest of them has waited. */
  unsettled(): { readonly count: number; readonly oldestMs: number } {
    const now = Date.now();
    let count = 0;
    let oldestMs = 0;
    for (const { endedAt } of this.#runs.values()) {
      if (endedAt === undefined) continue;
      count += 1;
      oldestMs = Math.max(oldestMs, now - endedAt);
    }
    return { count, oldestMs };
  }

  get count(): number {
    return this.#runs.size;
  }
}
