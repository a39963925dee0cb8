import type { RunId } from '../../../contract/run-id.ts';
import type { GatewayPort } from '../../gateway-port.ts';

const LOOK_MS = 1000;
const NANO = 1e9;

/** Ends a run that has used up its budget, by what the gateway billed and by what the agent itself says. */
export class BudgetWatch {
  readonly #budgetUsd: number;
  readonly #onSpent: () => void;
  #timer: NodeJS.Timeout | undefined;

  private constructor(budgetUsd: number, onSpent: () => void) {
    this.#budgetUsd = budgetUsd;
    this.#onSpent = onSpent;
  }

  /** Undefined without a budget. */
  static start(budgetUsd: number | undefined, port: GatewayPort, run: RunId, onSpent: () => void): BudgetWatch | undefined {
    if (budgetUsd === undefined) return undefined;
    const watch = new BudgetWatch(budgetUsd, onSpent);
    watch.#look(port, run);
    return watch;
  }

  heard(usd: number): void {
    if (usd >= this.#budgetUsd) this.#onSpent();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(port: GatewayPort, run: RunId): void {
    this.#timer = setTimeout(() => {
      port.spent(run, 'running').then(
        ({ nanoUsd }) => {
          this.heard((nanoUsd ?? 0) / NANO);
          if (this.#timer !== undefined) this.#look(port, run);
        },
        // A gateway that cannot say what was spent must not let the run go on unwatched for long: it is asked again.
        () => {
          if (this.#timer !== undefined) this.#look(port, run);
        },
      );
    }, LOOK_MS);
  }
}
