import { hasPassed } from '../../base/clock.ts';

const RETRY_MS = 1000;

interface Fault {
  readonly at: number;
  readonly message: string;
}

/**
 * Work beside the draining of facts, in its order. What fails is told once and tried again; it keeps nothing else from its turn: a database
 * that refuses one kind of work, such as making a table, must not keep usage from being summed or runs of lost nodes from being closed.
 */
export class Upkeep {
  readonly #works: Readonly<Record<string, () => Promise<void>>>;
  readonly #onFault: (message: string) => void;
  readonly #faults = new Map<string, Fault>();

  /** The works by what is said of one that failed. */
  constructor(works: Readonly<Record<string, () => Promise<void>>>, onFault: (message: string) => void) {
    this.#works = works;
    this.#onFault = onFault;
  }

  /** Whether some of it waits to be tried again. */
  get isFaulty(): boolean {
    return this.#faults.size > 0;
  }

  async turn(now = Date.now()): Promise<void> {
    for (const [name, work] of Object.entries(this.#works)) {
      const fault = this.#faults.get(name);
      if (fault !== undefined && !hasPassed(RETRY_MS, fault.at, now)) continue;
      try {
        await work();
        this.#faults.delete(name);
      } catch (error) {
        const message = `${name}: ${error instanceof Error ? error.message : String(error)}`;
        this.#faults.set(name, { at: now, message });
        if (fault?.message !== message) this.#onFault(message);
      }
    }
  }
}
