import type { Beyond, DiskBounds } from '../../workspaces/disk-share.ts';
import type { Stage } from '../../workspaces/stages.ts';

const FIRST_LOOK_MS = 2000;
/** Looking at a large tree takes its time; it is left alone for so many times as long. */
const REST = 20;

/** Ends a run whose staged workspace has grown beyond its bounds. */
export class DiskWatch {
  readonly #stage: Stage;
  readonly #bounds: DiskBounds;
  readonly #onFull: (beyond: Beyond) => void;
  #timer: NodeJS.Timeout | undefined;

  private constructor(stage: Stage, bounds: DiskBounds, onFull: (beyond: Beyond) => void) {
    this.#stage = stage;
    this.#bounds = bounds;
    this.#onFull = onFull;
  }

  /** Undefined where the agent works in the folder itself, or nothing bounds it. */
  static start(stage: Stage | undefined, bounds: DiskBounds, onFull: (beyond: Beyond) => void): DiskWatch | undefined {
    if (stage === undefined || (bounds.share === undefined && bounds.mostBytes === undefined)) return undefined;
    const watch = new DiskWatch(stage, bounds, onFull);
    watch.#lookIn(FIRST_LOOK_MS);
    return watch;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => void this.#look(), ms);
  }

  async #look(): Promise<void> {
    const begun = performance.now();
    // A tree that cannot be read now is looked at again.
    const beyond = await this.#stage.beyond(this.#bounds).catch(() => undefined);
    if (this.#timer === undefined) return;
    if (beyond === undefined) this.#lookIn(Math.max(FIRST_LOOK_MS, REST * (performance.now() - begun)));
    else this.#onFull(beyond);
  }
}
