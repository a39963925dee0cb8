import { createReadStream, readSync } from 'node:fs';
import { Readable } from 'node:stream';
import { type Pack, pack } from 'tar-stream';
import type { Json } from '../../base/json.ts';
import type { Row, TableSnapshot } from '../../store/backup/snapshot.ts';
import { type Account, TABLES } from './format.ts';
import { type HeldFile, sizeOf } from './home-files.ts';

/** Lines of a table are put together until they have about this size. */
const PART_CHARACTERS = 4 * 1024 * 1024;

/** Writes the entries of a backup one after the other, and counts them. */
export class ArchiveWriter {
  readonly #pack: Pack = pack();
  readonly #rows: Record<string, number> = {};
  #files = 0;
  #bytes = 0;

  /** The bytes of the archive, as they are written. */
  get stream(): Readable {
    return Readable.from(this.#pack);
  }

  get account(): Account {
    return { rows: this.#rows, files: this.#files, bytes: this.#bytes };
  }

  async json(name: string, value: Json): Promise<void> {
    await this.#put(name, Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
  }

  async table({ name, batches }: TableSnapshot): Promise<void> {
    this.#rows[name] = 0;
    let [lines, characters, part] = [[] as string[], 0, 0];
    const flush = async (): Promise<void> => {
      part += 1;
      await this.#put(`${TABLES}${name}/${String(part).padStart(6, '0')}.jsonl`, Buffer.from(lines.join('')));
      [lines, characters] = [[], 0];
    };
    for await (const batch of batches()) {
      for (const line of batch.map(lineOf)) {
        lines.push(line);
        characters += line.length;
      }
      this.#rows[name] += batch.length;
      if (characters >= PART_CHARACTERS) await flush();
    }
    if (lines.length > 0) await flush();
  }

  /** A file with the bytes that it has now. */
  async file(name: string, held: HeldFile): Promise<void> {
    const size = sizeOf(held);
    this.#files += 1;
    this.#bytes += size;
    if (size === 0) return await this.#put(name, Buffer.alloc(0));
    const written = Promise.withResolvers<void>();
    const entry = this.#pack.entry({ name, size, mode: 0o600 }, (error) => (error ? written.reject(error) : written.resolve()));
    for await (const chunk of createReadStream('', { fd: held.fd, start: 0, end: size - 1, autoClose: false }))
      if (!entry.write(chunk)) await new Promise<void>((resolve) => entry.once('drain', () => resolve()));
    entry.end(undefined);
    await written.promise;
  }

  /** A small file that was read before. */
  async bytes(name: string, content: Buffer): Promise<void> {
    this.#files += 1;
    this.#bytes += content.length;
    await this.#put(name, content);
  }

  end(): void {
    this.#pack.finalize();
  }

  fail(error: Error): void {
    this.#pack.destroy(error);
  }

  async #put(name: string, content: Buffer): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#pack.entry({ name, mode: 0o600 }, content, (error) => (error ? reject(error) : resolve()));
    });
  }
}

function lineOf(row: Row): string {
  return `${JSON.stringify(row)}\n`;
}

/** The whole content of a small file. */
export function contentOf(held: HeldFile): Buffer {
  const content = Buffer.alloc(sizeOf(held));
  return content.subarray(0, readSync(held.fd, content, 0, content.length, 0));
}
