import { hasPassed } from '../../base/clock.ts';
import type { BodyBucket } from '../../store/recordings/body-bucket.ts';
import type { BodyShelf } from '../../store/recordings/body-shelf.ts';

/** How far the bucket is behind the disk. */
export interface BucketState {
  /** Blocks of bodies that it has not got, and bodies that it has not lost. */
  readonly waiting: number;
  /** Why it does not take them; tried again until it does. */
  readonly fault?: string;
}

export interface UploadsOptions {
  readonly shelf: BodyShelf;
  readonly bucket: BodyBucket;
  readonly onState: (state: BucketState) => void;
}

const AT_THE_SAME_TIME = 8;
/** Blocks gather so long, so that the index is not searched for each of them. */
const BETWEEN_MS = 500;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Brings bodies that are on the disk to the bucket, and takes out of it what was erased or has expired. It works beside the keeper, whose
 * batches do not wait for it. What it has to do is in the index of the bodies: a process that is killed goes on after its next start.
 */
export class Uploads {
  readonly #options: UploadsOptions;
  readonly #ending = new AbortController();
  #round: Promise<void> | undefined;
  #due = true;
  /** How long it rests before the next round: longer each time that the bucket was away. */
  #pauseMs = 0;
  #endedAt = 0;
  #said = '';

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** There is something new on the disk, or gone from it. */
  expect(): void {
    this.#due = true;
  }

  /** A moment to begin, unless it is at work, or the bucket was away a moment ago. */
  look(now = Date.now()): void {
    if (!this.#due || this.#round !== undefined || !hasPassed(this.#pauseMs, this.#endedAt, now) || this.#ending.signal.aborted) return;
    this.#due = false;
    this.#round = this.#work().finally(() => {
      this.#round = undefined;
    });
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#round;
  }

  async #work(): Promise<void> {
    try {
      await this.#bring();
      this.#pauseMs = BETWEEN_MS;
      this.#endedAt = Date.now();
      this.#say({ waiting: this.#waiting() });
    } catch (error) {
      if (this.#ending.signal.aborted) return;
      this.#due = true;
      this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
      this.#endedAt = Date.now();
      this.#say({ waiting: this.#waiting(), fault: error instanceof Error ? error.message : String(error) });
    }
  }

  /** First what must go: a body that is recorded again is sent after that. */
  async #bring(): Promise<void> {
    const { shelf, bucket } = this.#options;
    const { signal } = this.#ending;
    await inTurns(shelf.doomed(), async (hash) => {
      await bucket.remove(hash, signal);
      shelf.buried(hash);
    });
    const blocks = shelf.unsent();
    for (const [at, block] of blocks.entries()) {
      signal.throwIfAborted();
      await shelf.send(block, (bodies) => inTurns(bodies, ([hash, body]) => bucket.put(hash, body, signal)));
      this.#say({ waiting: blocks.length - at - 1 });
    }
  }

  /** Whether the bucket takes bodies is only said after it was tried. */
  #say(state: BucketState): void {
    const said = JSON.stringify(state);
    if (said !== this.#said) this.#options.onState(state);
    this.#said = said;
  }

  #waiting(): number {
    const { shelf } = this.#options;
    return shelf.unsent().length + shelf.doomed().length;
  }
}

/** Several at a time; the first that fails ends it, once those under way have ended. */
async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let failed = false;
  const one = async (): Promise<void> => {
    for (let item = items[next]; item !== undefined && !failed; item = items[next]) {
      next += 1;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_THE_SAME_TIME }, one));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}
