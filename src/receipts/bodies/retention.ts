import { blockTime } from '../../store/recordings/body-files.ts';
import type { BodyShelf } from '../../store/recordings/body-shelf.ts';
import { dropBlock } from '../../store/recordings/recording-eraser.ts';
import type { Store } from '../../store/store.ts';

/** How long and how much is kept. */
export interface RetentionOptions {
  readonly store: Store;
  readonly shelf: BodyShelf;
  readonly node: string;
  readonly keepMs: number;
  readonly maxBytes: number;
}

/** Old blocks are looked for this often, and whenever the folder has grown beyond its size. */
const LOOK_MS = 60_000;
/** When the folder is full, so much of it is made free at once. */
const ROOM = 0.05;
/** A block without rows is one that a killed process wrote, unless it is this new. */
const ORPHAN_MS = 60_000;

/** Removes the oldest bodies when they are too old or too many. */
export class Retention {
  readonly #options: RetentionOptions;
  #bytes: number | undefined;
  #lookedAt = 0;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** A moment to look whether something must go. */
  async look(written: readonly string[], now = Date.now()): Promise<void> {
    const { shelf, maxBytes } = this.#options;
    for (const block of written) if (this.#bytes !== undefined) this.#bytes += shelf.sizeOf(block);
    if (this.#bytes !== undefined && this.#bytes <= maxBytes && now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    await this.#evict(now);
  }

  async #evict(now: number): Promise<void> {
    const { store, shelf, node, keepMs, maxBytes } = this.#options;
    const blocks = shelf.blocks();
    const wanted = shelf.wantedBlocks();
    let bytes = 0;
    for (const size of blocks.values()) bytes += size;
    const goal = bytes > maxBytes ? maxBytes * (1 - ROOM) : maxBytes;
    for (const [block, size] of blocks) {
      const age = now - blockTime(block);
      const orphan = !wanted.has(block) && age > ORPHAN_MS;
      if (bytes <= goal && age <= keepMs && !orphan) continue;
      await dropBlock(store, shelf, node, block);
      bytes -= size;
    }
    this.#bytes = bytes;
  }
}
