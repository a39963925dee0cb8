import { hasPassed } from '../../base/clock.ts';

const RETRY_MS = 1000;

/** A piece of work that is due now and then. */
export interface Work {
  /** The beginning of the message about a failure of it. */
  readonly failed: string;
  readonly run: () => Promise<void>;
}

interface Fault {
  readonly at: number;
  readonly message: string;
}

/**
 * Work beside the draining of facts, in its order. What fails is told once and tried again; it keeps nothing else from its turn: a database
 * that refuses one kind of work, such as making a table, must not keep usage from being summed or runs of lost nodes from being closed.
 */
export class Upkeep {
  readonly #works: readonly Work[];
  readonly #onFault: (message: string) => void;
  readonly #faults = new Map<Work, Fault>();

  constructor(works: readonly Work[], onFault: (message: string) => void) {
    this.#works = works;
    this.#onFault = onFault;
  }

  /** Whether some of it waits to be tried again. */
  get isFaulty(): boolean {
    return this.#faults.size > 0;
  }

  async turn(now = Date.now()): Promise<void> {
    for (const work of this.#works) {
      const fault = this.#faults.get(work);
      if (fault !== undefined && !hasPassed(RETRY_MS, fault.at, now)) continue;
      try {
        await work.run();
        this.#faults.delete(work);
      } catch (error) {
        const message = `${work.failed}: ${error instanceof Error ? error.message : String(error)}`;
        this.#faults.set(work, { at: now, message });
        if (fault?.message !== message) this.#onFault(message);
      }
    }
  }
}
