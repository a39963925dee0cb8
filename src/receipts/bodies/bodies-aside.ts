import { closeSync, ftruncateSync, open, renameSync, rmSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { encodeRecord, type NewRecord } from './record.ts';

/** Room for the header and the meta of the record, which are known only after its bodies are on the disk. */
const HEAD_BYTES = 64 * 1024;

const openFile = promisify(open);
const writeFile = promisify(write);

/**
 * Large bodies of a request in a file of their own, written before their run begins. Writing many megabytes to the journal in one piece
 * would keep every other call waiting; the threads of the system write this file, and the run begins by giving it a header and a name.
 */
export class BodiesAside {
  readonly #file: string;
  readonly #fd: number;
  #bodies: readonly Buffer[];
  #over = false;

  private constructor(file: string, fd: number, bodies: readonly Buffer[]) {
    this.#file = file;
    this.#fd = fd;
    this.#bodies = bodies;
  }

  static async write(file: string, bodies: readonly Buffer[]): Promise<BodiesAside> {
    const aside = new BodiesAside(file, await openFile(file, 'wx', 0o600), bodies);
    try {
      let at = HEAD_BYTES;
      for (const body of bodies) at = await aside.#write(body, at);
      return aside;
    } catch (error) {
      aside.drop();
      throw error;
    }
  }

  async #write(body: Buffer, at: number): Promise<number> {
    let done = 0;
    // The system may take a part of it at a time.
    while (done < body.length) done += (await writeFile(this.#fd, body, done, body.length - done, at + done)).bytesWritten;
    return at + body.length;
  }

  /** Makes a segment of the file, with this record alone; false where the record has no place in it. */
  seal(record: NewRecord, segment: string): boolean {
    const [head, ...bodies] = encodeRecord(record, HEAD_BYTES);
    if (this.#over || head === undefined || head.length !== HEAD_BYTES) return false;
    let end = HEAD_BYTES;
    for (const [at, body] of bodies.entries()) {
      // Another translation than the one that was expected, as a rule none.
      if (body !== this.#bodies[at]) writeSync(this.#fd, body, 0, body.length, end);
      end += body.length;
    }
    ftruncateSync(this.#fd, end);
    // Last, because a record counts from its header on.
    writeSync(this.#fd, head, 0, head.length, 0);
    this.#close();
    renameSync(this.#file, segment);
    return true;
  }

  /** Removes the file, unless it has become a segment. */
  drop(): void {
    if (this.#over) return;
    this.#close();
    rmSync(this.#file, { force: true });
  }

  #close(): void {
    this.#over = true;
    this.#bodies = [];
    closeSync(this.#fd);
  }
}
