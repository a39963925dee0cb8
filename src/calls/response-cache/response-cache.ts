import { type Clock, systemClock } from '../../base/clock.ts';
import type { CachePlace } from './cacheable.ts';
import type { DiskCache } from './disk-cache.ts';
import { type KeptResponse, sizeOf } from './kept-response.ts';

interface Kept {
  readonly response: KeptResponse;
  readonly until: number;
}

export interface ResponseCacheOptions {
  readonly memoryBytes: number;
  /** Longer answers are not kept. */
  readonly answerBytes: number;
  /** Where answers survive a restart, and what memory has no room for. */
  readonly disk?: DiskCache | undefined;
  readonly clock?: Clock;
}

/** Answers that may be given again. The one that nobody asked for longest makes room. */
export class ResponseCache {
  readonly answerBytes: number;
  readonly #memoryBytes: number;
  readonly #disk: DiskCache | undefined;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor({ memoryBytes, answerBytes, disk, clock = systemClock }: ResponseCacheOptions) {
    this.#memoryBytes = memoryBytes;
    this.answerBytes = answerBytes;
    this.#disk = disk;
    this.#clock = clock;
  }

  /** The answer at a place; a promise where it must be read from the disk. */
  get({ key }: CachePlace): KeptResponse | undefined | Promise<KeptResponse | undefined> {
    const kept = this.#kept.get(key);
    if (kept === undefined) return this.#disk?.read(key, this.#clock.now());
    this.#forget(key);
    if (kept.until <= this.#clock.now()) return undefined;
    this.#keep(key, kept);
    return kept.response;
  }

  put({ key, ttlMs }: CachePlace, response: KeptResponse): void {
    const until = this.#clock.now() + ttlMs;
    this.#forget(key);
    if (response.body.length <= this.#memoryBytes) this.#keep(key, { response, until });
    this.#disk?.write(key, response, until);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#memoryBytes) break;
      this.#forget(oldest);
    }
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.set(key, kept);
    this.#bytes += sizeOf(kept.response);
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= sizeOf(kept.response);
  }
}
