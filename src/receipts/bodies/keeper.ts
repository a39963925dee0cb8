import { hasPassed } from '../../base/clock.ts';
import { type Redactor, redactor } from '../../base/redact.ts';
import { SseFrames } from '../../base/sse.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { Home } from '../../home/home.ts';
import { BodyBucket, type BucketPlace } from '../../store/recordings/body-bucket.ts';
import { BodyShelf } from '../../store/recordings/body-shelf.ts';
import type { BodyDigest } from '../../store/recordings/recording.ts';
import { eraseRecordings } from '../../store/recordings/recording-eraser.ts';
import { getRecording } from '../../store/recordings/recordings.ts';
import type { Store } from '../../store/store.ts';
import { BodyDrain } from './drain.ts';
import { Retention } from './retention.ts';
import { type BucketState, Uploads } from './uploads.ts';

/** How bodies are kept. */
export interface BodyKeeping {
  readonly keepMs: number;
  readonly maxBytes: number;
  /** Regular expressions of secrets beyond the known ones. */
  readonly redact: readonly string[];
  /** Secrets of this installation, by their value. */
  readonly secrets?: readonly string[];
  /** Where bodies go besides the disk of their node. */
  readonly bucket?: BucketPlace;
}

/** Takes out of what is kept the secrets that this keeping knows. */
export function keptRedactor({ redact, secrets = [] }: BodyKeeping): Redactor {
  return redactor(redact, secrets);
}

export const DEFAULT_KEEPING: BodyKeeping = { keepMs: 7 * 24 * 3600 * 1000, maxBytes: 2 * 1024 ** 3, redact: [] };

export interface BodyKeeperOptions {
  readonly store: Store;
  readonly home: Pick<Home, 'bodiesFolder' | 'journalFolder' | 'nodeId'>;
  readonly keeping: BodyKeeping;
  /** Bodies cannot be stored or removed: a fault to log. Receipts do not wait for it. */
  readonly onFault: (message: string) => void;
  /** How far the bucket is behind, whenever that changes. */
  readonly onBucket?: (state: BucketState) => void;
  /** Space that bodies take on the disk, whenever it has changed by a hundredth. */
  readonly onBytes?: (bytes: number) => void;
}

/** A segment that nobody writes to is deleted at the latest so much later. */
const TIDY_MS = 5000;

/** The part of an answer that was recorded. */
export interface Remains extends BodyDigest {
  readonly status: number;
  readonly eventCount: number;
}

/** The keeper's part that has to do with bodies. */
export class BodyKeeper {
  readonly #options: BodyKeeperOptions;
  readonly #shelf: BodyShelf;
  readonly #drain: BodyDrain;
  readonly #retention: Retention;
  readonly #uploads: Uploads | undefined;
  #settledAt = 0;

  constructor(options: BodyKeeperOptions) {
    const { store, home, keeping, onFault, onBytes, onBucket = () => undefined } = options;
    const { keepMs, maxBytes } = keeping;
    const node = home.nodeId;
    this.#options = options;
    const bucket = keeping.bucket === undefined ? undefined : new BodyBucket(keeping.bucket, node);
    const shelf = new BodyShelf(home.bodiesFolder, undefined, bucket);
    this.#shelf = shelf;
    this.#uploads = bucket === undefined ? undefined : new Uploads({ shelf, bucket, onState: onBucket });
    this.#drain = new BodyDrain({ store, shelf, journalFolder: home.journalFolder, node, redactor: keptRedactor(keeping), onFault });
    this.#retention = new Retention({ store, shelf, node, keepMs, maxBytes, bucket: bucket !== undefined, onLost: onFault, onBytes });
  }

  /** Stores the bodies of runs that have ended. After it, `replayable` knows of every run whose end the journal had before. */
  async settle(): Promise<void> {
    this.#settledAt = Date.now();
    const blocks = await this.#drain.all();
    this.#uploads?.expect();
    try {
      await this.#retention.look(blocks);
    } catch (error) {
      this.#options.onFault(`old bodies could not be removed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** Stores what an earlier process left of runs that did not end. Called once, before the first run of this one. */
  async settlePast(): Promise<void> {
    await this.#drain.settlePast();
  }

  replayable(run: string): boolean {
    return this.#drain.replayable(run);
  }

  forget(runs: readonly string[]): void {
    this.#drain.forget(runs);
  }

  /** The part of an answer that had come when its process ended; undefined when nothing is recorded. */
  async remains(run: RunId): Promise<Remains | undefined> {
    const { store } = this.#options;
    const response = (await getRecording(store, run))?.response ?? undefined;
    if (response === undefined) return undefined;
    const { body, status, headers } = response;
    const streamed = headers.some((text) => text.toLowerCase().startsWith('text/event-stream'));
    const bytes = streamed ? await this.#readOrSay(body) : undefined;
    return { ...body, status, eventCount: bytes === undefined ? 0 : new SseFrames(bytes.length).push(bytes).length };
  }

  /** A bucket that is away must not keep a server from starting. */
  async #readOrSay(body: BodyDigest): Promise<Buffer | undefined> {
    try {
      return await this.#shelf.read(body);
    } catch (error) {
      this.#options.onFault(`what had come of an answer could not be read: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  /** A moment to bring bodies to the bucket, which happens beside other work. Only for a process that stays. */
  upload(): void {
    this.#uploads?.look();
  }

  /** Upkeep that is due now and then, also when no run ends. */
  async tidy(now = Date.now()): Promise<void> {
    if (hasPassed(TIDY_MS, this.#settledAt, now)) await this.settle();
  }

  /** Removes the bodies of runs, also from the journal; how many had any. */
  async erase(runs: readonly RunId[]): Promise<number> {
    const { store, home } = this.#options;
    await this.settle();
    const erased = await eraseRecordings(store, this.#shelf, home.nodeId, runs);
    this.#uploads?.expect();
    return erased;
  }

  async close(): Promise<void> {
    await this.#uploads?.stop();
    this.#shelf.close();
  }
}
