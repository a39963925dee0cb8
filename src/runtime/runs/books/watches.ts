import type { RunId } from '../../../contract/run-id.ts';
import type { GatewayPort } from '../../gateway-port.ts';
import type { LocalRunOptions } from '../handle.ts';
import type { Prepared } from '../prepare.ts';
import { BudgetWatch } from './budget-watch.ts';
import { CancelWatch } from './cancel-watch.ts';
import { DiskWatch } from './disk-watch.ts';
import { EngineWatch } from './engine-watch.ts';
import type { StopReason } from './outcome.ts';

/** Everything that can end a run while its agent works. */
export class Watches {
  readonly #budget: BudgetWatch | undefined;
  readonly #all: readonly ({ stop(): void } | undefined)[];

  /** `end` is told why, where that is not always the same. */
  constructor(
    { port, run, options, prepared }: { port: GatewayPort; run: RunId; options: LocalRunOptions; prepared: Prepared },
    end: (reason: StopReason, why?: string) => void,
  ) {
    this.#budget = BudgetWatch.start(options.maxBudgetUsd, port, run, () => end('budget'));
    this.#all = [
      this.#budget,
      CancelWatch.start(port, run, () => end('aborted')),
      diskWatch(prepared, port, end),
      prepared.traffic.kind === 'gateway' ? EngineWatch.start(port, run, (why) => end('engine', why)) : undefined,
    ];
  }

  /** The agent has told its own count of its cost so far. */
  heardCost(usd: number): void {
    this.#budget?.heard(usd);
  }

  stop(): void {
    for (const watch of this.#all) watch?.stop();
  }
}

function diskWatch({ ground }: Prepared, port: GatewayPort, end: (reason: StopReason, why?: string) => void): DiskWatch | undefined {
  const { diskMb } = ground.limits;
  const bounds = { share: port.disk, mostBytes: diskMb === undefined ? undefined : diskMb * 1024 * 1024 };
  const why = `The staged workspace grew beyond the ${diskMb} MiB that the run may take (limits.diskMb).`;
  return DiskWatch.start(ground.stage, bounds, (beyond) => (beyond === 'limit' ? end('disk', why) : end('disk')));
}
