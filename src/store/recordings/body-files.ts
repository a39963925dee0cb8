import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { zstdCompressSync, zstdDecompress } from 'node:zlib';
import { uuidv7Hex } from '../../base/ids.ts';

const SUFFIX = '.zst';
/** Folders hold the blocks of about five hours each: the first digits of a UUIDv7 are the time. */
const FOLDER_DIGITS = 6;
const TIME_DIGITS = 12;
/** A half written file of this age is nobody's any more. */
const ABANDONED_MS = 600_000;

const decompress = promisify(zstdDecompress);

/** Where a body stands: in which block, and where in its decompressed bytes. */
export interface BodyPlace {
  readonly block: string;
  readonly start: number;
  readonly bytes: number;
}

/**
 * Bodies on disk, many in one compressed file: requests of one caller resemble each other, so together they take a fraction of the
 * space and of the work. A block is never changed once it is there; its name is a UUIDv7, so names sort by age.
 */
export class BodyFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes a block; it appears whole or not at all. One that takes the place of another keeps its age. */
  write(bodies: readonly Buffer[], replaced?: string): { block: string; starts: readonly number[] } {
    const name = uuidv7Hex();
    const block = replaced === undefined ? name : `${replaced.slice(0, TIME_DIGITS)}${name.slice(TIME_DIGITS)}`;
    let end = 0;
    const starts = bodies.map((body) => {
      end += body.length;
      return end - body.length;
    });
    const file = this.#file(block);
    mkdirSync(join(this.#folder, block.slice(0, FOLDER_DIGITS)), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.tmp`, zstdCompressSync(Buffer.concat(bodies, end)), { mode: 0o600 });
    renameSync(`${file}.tmp`, file);
    return { block, starts };
  }

  /** Undefined when the block is gone. */
  async read({ block, start, bytes }: BodyPlace): Promise<Buffer | undefined> {
    const whole = await this.readBlock(block);
    return whole === undefined || whole.length < start + bytes ? undefined : whole.subarray(start, start + bytes);
  }

  async readBlock(block: string): Promise<Buffer | undefined> {
    try {
      return await decompress(await readFile(this.#file(block)));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  has(block: string): boolean {
    return existsSync(this.#file(block));
  }

  remove(block: string): void {
    rmSync(this.#file(block), { force: true });
  }

  /** Every block with its size on disk, oldest first. What a killed process left half written is removed. */
  blocks(): Map<string, number> {
    const found = new Map<string, number>();
    const folders = readdirSync(this.#folder).filter(isBlockFolder).sort();
    for (const folder of folders) {
      const names = readdirSync(join(this.#folder, folder)).sort();
      for (const name of names) {
        const file = join(this.#folder, folder, name);
        // Another process may have removed it, or given it its name, a moment ago.
        const stats = statSync(file, { throwIfNoEntry: false });
        if (stats === undefined) continue;
        if (name.endsWith(SUFFIX)) found.set(name.slice(0, -SUFFIX.length), stats.size);
        else if (Date.now() - stats.mtimeMs > ABANDONED_MS) rmSync(file, { force: true });
      }
      if (names.length === 0) rmdirSync(join(this.#folder, folder));
    }
    return found;
  }

  sizeOf(block: string): number {
    return statSync(this.#file(block)).size;
  }

  #file(block: string): string {
    return join(this.#folder, block.slice(0, FOLDER_DIGITS), `${block}${SUFFIX}`);
  }
}

function isBlockFolder(name: string): boolean {
  return name.length === FOLDER_DIGITS && /^[0-9a-f]+$/.test(name);
}

/** When a block was written. */
export function blockTime(block: string): number {
  return Number.parseInt(block.slice(0, TIME_DIGITS), 16);
}
