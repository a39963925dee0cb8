import { hasPassed } from '../../base/clock.ts';
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
  /** Bodies are in a bucket, too: the disk makes room without losing them. */
  readonly bucket?: boolean;
  /** Bodies that the bucket had not got made room. */
  readonly onLost?: (message: string) => void;
  /** Space that is taken, whenever it has changed by a hundredth. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
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
  #told: number | undefined;
  #lookedAt = 0;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** A moment to look whether something must go. */
  async look(written: readonly string[], now = Date.now()): Promise<void> {
    const { shelf, maxBytes } = this.#options;
    for (const block of written) if (this.#bytes !== undefined) this.#bytes += shelf.sizeOf(block);
    if (this.#bytes === undefined || this.#bytes > maxBytes || hasPassed(LOOK_MS, this.#lookedAt, now)) {
      this.#lookedAt = now;
      await this.#evict(now);
    }
    this.#tell();
  }

  #tell(): void {
    const bytes = this.#bytes ?? 0;
    if (this.#told !== undefined && Math.abs(bytes - this.#told) <= this.#told / 100) return;
    this.#told = bytes;
    this.#options.onBytes?.(bytes);
  }

  async #evict(now: number): Promise<void> {
    const { store, shelf, node, keepMs, maxBytes } = this.#options;
    const blocks = shelf.blocks();
    const wanted = shelf.wantedBlocks();
    for (const block of new Set([...blocks.keys(), ...wanted])) {
      const age = now - blockTime(block);
      if (age <= keepMs && (wanted.has(block) || age <= ORPHAN_MS)) continue;
      await dropBlock(store, shelf, node, block);
      blocks.delete(block);
    }
    let bytes = 0;
    for (const size of blocks.values()) bytes += size;
    this.#bytes = bytes > maxBytes ? await this.#makeRoom(blocks, bytes) : bytes;
  }

  /** The oldest make room, first those that the bucket has; how much is taken then. */
  async #makeRoom(blocks: ReadonlyMap<string, number>, taken: number): Promise<number> {
    const { store, shelf, node, maxBytes, bucket = false, onLost } = this.#options;
    const goal = maxBytes * (1 - ROOM);
    let bytes = taken;
    const stay: [string, number][] = [];
    for (const [block, size] of blocks) {
      if (bytes <= goal) break;
      if (!bucket || !shelf.isSent(block)) {
        stay.push([block, size]);
        continue;
      }
      shelf.leaveToBucket(block);
      bytes -= size;
    }
    let lost = 0;
    for (const [block, size] of stay) {
      if (bytes <= goal) break;
      await dropBlock(store, shelf, node, block);
      bytes -= size;
      lost += size;
    }
    if (bucket && lost > 0) onLost?.(`${lost} bytes of bodies had to make room on the disk before they had reached the bucket`);
    return bytes;
  }
}
