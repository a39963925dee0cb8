import { isRunning, type ProcessIdentity } from '../../base/process-table.ts';
import type { RunId } from '../../contract/run-id.ts';

const LOOK_MS = 2000;
/** How long a run may take from its admission to its beginning where nobody says which process drives it. */
const UNNAMED_MS = 600_000;

export interface Attached {
  readonly owner: ProcessIdentity;
  readonly startedAt: number;
  /** Whether the end of the owner is the proper end of the run. */
  readonly endsWithOwner: boolean;
}

/** A run that was let in and has not begun. */
interface Awaited {
  /** Undefined where an earlier version asked. */
  readonly owner: ProcessIdentity | undefined;
  readonly since: number;
}

export interface AttachedRunsOptions {
  /** The server is about to close. */
  readonly closing: AbortSignal;
  /** Ends a run whose owner has ended. */
  end(run: RunId, attached: Attached): Promise<void>;
  /** Gives back what a run took that will never begin. */
  drop(run: RunId): Promise<void>;
  onFault(error: unknown, run: RunId): void;
}

/**
 * Watches over the processes that use this server: one that is killed cannot say that it has gone, that its run is over, or that it will
 * not begin.
 */
export class AttachedRuns {
  readonly #options: AttachedRunsOptions;
  /** Processes that have found the server, from before their first run until they leave; by an id that each has made. */
  readonly #visitors = new Map<string, ProcessIdentity>();
  readonly #awaited = new Map<RunId, Awaited>();
  readonly #runs = new Map<RunId, Attached>();
  readonly #idle: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #shut = false;

  constructor(options: AttachedRunsOptions) {
    this.#options = options;
    options.closing.addEventListener('abort', () => clearInterval(this.#timer));
  }

  /** A process is going to use the server; false where the server ends and takes nobody any more. */
  visit(id: string, owner: ProcessIdentity): boolean {
    if (this.#shut) return false;
    this.#visitors.set(id, owner);
    this.#watch();
    return true;
  }

  leave(id: string): void {
    this.#visitors.delete(id);
    this.#left();
  }

  /** Takes nobody from now on; false, and everything stays as it is, while somebody is here. */
  shut(): boolean {
    this.#shut = !this.#busy;
    return this.#shut;
  }

  /** The run was let in; its owner is to begin it. */
  expect(run: RunId, owner: ProcessIdentity | undefined): void {
    this.#awaited.set(run, { owner, since: Date.now() });
    this.#watch();
  }

  add(run: RunId, attached: Attached): void {
    this.#awaited.delete(run);
    this.#runs.set(run, attached);
    this.#watch();
  }

  remove(run: RunId): void {
    this.#awaited.delete(run);
    this.#runs.delete(run);
    this.#left();
  }

  has(run: RunId): boolean {
    return this.#runs.has(run);
  }

  /** Resolves when no process uses the server, and no run of one is expected or under way. */
  async idle(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  get #busy(): boolean {
    return this.#visitors.size + this.#awaited.size + this.#runs.size > 0;
  }

  #left(): void {
    if (this.#busy) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #watch(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS);
  }

  #look(): void {
    for (const [id, owner] of this.#visitors) if (!isRunning(owner)) this.leave(id);
    for (const [run, { owner, since }] of this.#awaited) {
      if (owner === undefined ? Date.now() - since < UNNAMED_MS : isRunning(owner)) continue;
      this.remove(run);
      this.#settled(run, this.#options.drop(run));
    }
    for (const [run, attached] of this.#runs) {
      if (isRunning(attached.owner)) continue;
      this.remove(run);
      this.#settled(run, this.#options.end(run, attached));
    }
  }

  #settled(run: RunId, work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.onFault(error, run));
  }
}
