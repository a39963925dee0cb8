import type { DiskShare } from '../../workspaces/disk-share.ts';
import type { Stage } from '../../workspaces/stages.ts';

const FIRST_LOOK_MS = 2000;
/** Looking at a large tree takes its time; it is left alone for so many times as long. */
const REST = 20;

/** Ends a run whose staged workspace has grown beyond its caller's share of the disk. */
export class DiskWatch {
  readonly #stage: Stage;
  readonly #share: DiskShare;
  readonly #onFull: () => void;
  #timer: NodeJS.Timeout | undefined;

  private constructor(stage: Stage, share: DiskShare, onFull: () => void) {
    this.#stage = stage;
    this.#share = share;
    this.#onFull = onFull;
  }

  /** Undefined where the agent works in the folder itself, or nobody shares the disk. */
  static start(stage: Stage | undefined, share: DiskShare | undefined, onFull: () => void): DiskWatch | undefined {
    if (stage === undefined || share === undefined) return undefined;
    const watch = new DiskWatch(stage, share, onFull);
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
    const fits = await this.#stage.fits(this.#share).catch(() => true);
    if (this.#timer === undefined) return;
    if (fits) this.#lookIn(Math.max(FIRST_LOOK_MS, REST * (performance.now() - begun)));
    else this.#onFull();
  }
}
