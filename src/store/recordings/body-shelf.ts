import { mkdirSync } from 'node:fs';
import { AT_ONCE, digestInTurns } from '../../base/bounded/buffers.ts';
import { sha256 } from '../../base/canonical-json.ts';
import type { BodyBucket } from './body-bucket.ts';
import { BodyFiles, type BodyPlace, blockTime } from './body-files.ts';
import { BodyIndex, hashOf } from './body-index.ts';
import type { BodyDigest } from './recording.ts';

/** A body that is older than this is stored again, so that a new recording does not lose it when the old ones expire. */
const FRESH_MS = 24 * 3600 * 1000;

/** The bodies of this node, each stored once under its digest. One thread writes; others read. */
export class BodyShelf {
  readonly #files: BodyFiles;
  readonly #index: BodyIndex;
  readonly #others: () => readonly string[];
  /** Shelves of other processes of this machine, by their folders; opened when somebody asks for what is not here. */
  readonly #opened = new Map<string, BodyShelf>();

  readonly #bucket: BodyBucket | undefined;

  /**
   * `others` are the folders of other processes of this machine, whose bodies are read here and never written. The bucket has bodies of
   * every node, and those of this one whose files made room.
   */
  constructor(folder: string, others: () => readonly string[] = () => [], bucket?: BodyBucket) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#others = others;
    this.#bucket = bucket;
    this.#files = new BodyFiles(folder);
    this.#index = new BodyIndex(folder);
  }

  /** Stores those that are not there yet; the block they went to, if any did. */
  add(bodies: ReadonlyMap<string, Buffer>, now = Date.now()): string | undefined {
    const fresh = [...bodies].filter(([digest]) => {
      const place = this.#index.find(digest);
      return place === undefined || now - blockTime(place.block) > FRESH_MS || !this.#reaches(place.block);
    });
    if (fresh.length === 0) return undefined;
    const { block, starts } = this.#files.write(fresh.map(([, body]) => body));
    this.#index.together(() => {
      for (const [at, [digest, body]] of fresh.entries())
        this.#index.put(hashOf(digest), { block, start: starts[at] ?? 0, bytes: body.length });
    });
    return block;
  }

  /** Whether the bodies of a block are there: in its file, or in the bucket. */
  #reaches(block: string): boolean {
    return this.#files.has(block) || (this.#bucket !== undefined && this.#index.isSent(block));
  }

  /** The bytes of a digest, checked; undefined when they have expired or were erased. */
  async read(digest: BodyDigest): Promise<Buffer | undefined> {
    if (digest.bytes === 0) return Buffer.alloc(0);
    const bytes = await this.#bytesOf(digest.sha256);
    if (bytes === undefined) return (await this.#readElsewhere(digest)) ?? (await this.#bucket?.read(digest));
    return (bytes.length > AT_ONCE ? await digestInTurns(bytes) : sha256(bytes)) === digest.sha256 ? bytes : undefined;
  }

  async #readElsewhere(digest: BodyDigest): Promise<Buffer | undefined> {
    for (const folder of this.#others()) {
      const shelf = this.#opened.get(folder) ?? new BodyShelf(folder);
      this.#opened.set(folder, shelf);
      const bytes = await shelf.read(digest);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }

  async #bytesOf(digest: string): Promise<Buffer | undefined> {
    const place = this.#index.find(digest);
    const bytes = place === undefined ? undefined : await this.#files.read(place);
    if (bytes !== undefined || place === undefined) return bytes;
    // An erasure moves what remains of a block; a reader that asked in between asks again.
    const moved = this.#index.find(digest);
    return moved === undefined || moved.block === place.block ? undefined : await this.#files.read(moved);
  }

  /** Notes who sent which body. */
  noteRequests(requests: readonly (readonly [digest: string, run: string])[]): void {
    this.#index.together(() => {
      for (const [digest, run] of requests) this.#index.note(digest, run);
    });
  }

  /** Runs that sent the body, newest first. */
  runsOf(digest: string, limit: number): string[] {
    return this.#index.runsOf(digest, limit);
  }

  forgetRequests(requests: readonly (readonly [digest: string, run: string])[]): void {
    this.#index.together(() => {
      for (const [digest, run] of requests) this.#index.forgetRun(digest, run);
    });
  }

  /** Removes bodies. The blocks they stood in are written anew without them: their bytes are gone from the disk. */
  async erase(digests: readonly string[]): Promise<void> {
    const blocks = new Set(digests.flatMap((digest) => this.#index.find(digest)?.block ?? []));
    this.#index.together(() => {
      for (const digest of digests) this.#index.remove(digest);
    });
    for (const block of blocks) await this.#rewrite(block);
  }

  async #rewrite(block: string): Promise<void> {
    const rest = this.#index.inBlock(block);
    if (rest.length === 0) this.#index.dropBlock(block);
    const whole = rest.length === 0 ? undefined : await this.#files.readBlock(block);
    if (whole !== undefined) {
      const moved = this.#files.write(
        rest.map(({ start, bytes }) => whole.subarray(start, start + bytes)),
        block,
      );
      this.#index.together(() => {
        for (const [at, { hash, bytes }] of rest.entries()) {
          this.#index.put(hash, { block: moved.block, start: moved.starts[at] ?? 0, bytes });
        }
        this.#index.moveBlock(block, moved.block);
      });
    }
    this.#files.remove(block);
  }

  /** Every block with its size on disk, oldest first. */
  blocks(): Map<string, number> {
    return this.#files.blocks();
  }

  /** Blocks that hold a body somebody may ask for. */
  wantedBlocks(): Set<string> {
    return this.#index.blocks();
  }

  /** The bodies in a block. */
  bodiesIn(block: string): readonly BodyPlace[] {
    return this.#index.inBlock(block);
  }

  sizeOf(block: string): number {
    return this.#files.sizeOf(block);
  }

  /** Blocks whose bodies have not all reached the bucket, oldest first. */
  unsent(): string[] {
    return this.#index.unsent();
  }

  isSent(block: string): boolean {
    return this.#index.isSent(block);
  }

  /** Has every body of a block sent. Where an erasure moved them meanwhile, the block that they are in now is still to be sent. */
  async send(block: string, put: (bodies: readonly (readonly [hash: bigint, body: Buffer])[]) => Promise<void>): Promise<void> {
    this.#index.beginSending(block);
    const whole = await this.#files.readBlock(block);
    if (whole !== undefined)
      await put(this.#index.inBlock(block).map(({ hash, start, bytes }) => [hash, whole.subarray(start, start + bytes)]));
    this.#index.endSending(block);
  }

  /** Bodies of this node that the bucket must lose. */
  doomed(): bigint[] {
    return this.#index.doomed();
  }

  /** The bucket has lost it. */
  buried(hash: bigint): void {
    this.#index.buried(hash);
  }

  /** Removes the file of a block whose bodies the bucket has. */
  leaveToBucket(block: string): void {
    this.#files.remove(block);
  }

  /** Removes a block, what is known of it, and what is known of runs before it. */
  dropBlock(block: string, runsBefore: string): void {
    this.#index.together(() => {
      this.#index.dropBlock(block);
      this.#index.forgetRunsBefore(runsBefore);
    });
    this.#files.remove(block);
  }

  close(): void {
    for (const shelf of this.#opened.values()) shelf.close();
    this.#index.close();
  }
}
