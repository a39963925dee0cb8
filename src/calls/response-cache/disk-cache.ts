import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../base/canonical-json.ts';
import { parseJson } from '../../base/json.ts';
import { type KeptResponse, sizeOf } from './kept-response.ts';

interface Entry {
  readonly bytes: number;
  readonly until: number;
}

const NAME = /^[0-9a-f]{64}$/;
const LF = 10;

/** Answers on the disk, a file each: a line about the answer, then its bytes. The time of a file is when it ends. */
export class DiskCache {
  readonly #folder: string;
  readonly #mostBytes: number;
  readonly #onFault: (error: unknown) => void;
  readonly #entries = new Map<string, Entry>();
  /** Writes and removals under way; they are done one after the other. */
  #work: Promise<void> = Promise.resolve();
  #bytes = 0;

  constructor(folder: string, mostBytes: number, onFault: (error: unknown) => void) {
    this.#folder = folder;
    this.#mostBytes = mostBytes;
    this.#onFault = onFault;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(folder)) this.#find(name);
    this.#makeRoom(Date.now());
  }

  #find(name: string): void {
    const { size, mtimeMs } = statSync(join(this.#folder, name));
    if (NAME.test(name)) this.#note(name, { bytes: size, until: mtimeMs });
    else this.#remove(name);
  }

  /** The answer under a key; undefined at once where there is none. */
  read(key: string, now: number): Promise<KeptResponse | undefined> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.until <= now) return undefined;
    return this.#load(key);
  }

  async #load(key: string): Promise<KeptResponse | undefined> {
    try {
      const kept = responseOf(await readFile(join(this.#folder, key)));
      if (kept === undefined) this.#drop(key);
      return kept;
    } catch (error) {
      // It may have made room for another one a moment ago.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) this.#onFault(error);
      return undefined;
    }
  }

  write(key: string, response: KeptResponse, until: number): void {
    const bytes = sizeOf(response);
    if (bytes > this.#mostBytes) return;
    this.#drop(key);
    this.#note(key, { bytes, until });
    this.#then(async () => {
      const path = join(this.#folder, key);
      await writeFile(`${path}.new`, textOf(response), { mode: 0o600 });
      await utimes(`${path}.new`, new Date(), new Date(until));
      await rename(`${path}.new`, path);
    });
    this.#makeRoom(Date.now());
  }

  /** Resolves when everything that was kept so far is on the disk. */
  async settled(): Promise<void> {
    await this.#work;
  }

  #makeRoom(now: number): void {
    for (const [key, { until }] of this.#entries) if (until <= now) this.#drop(key);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#drop(oldest);
    }
  }

  #note(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    this.#remove(key);
  }

  #remove(name: string): void {
    this.#then(() => rm(join(this.#folder, name), { force: true }));
  }

  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch(this.#onFault);
  }
}

function textOf({ status, headers, events, body }: KeptResponse): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ status, headers, events, sha256: sha256(body) })}\n`), body]);
}

/** Undefined where the bytes are not those that were written. */
function responseOf(bytes: Buffer): KeptResponse | undefined {
  const end = bytes.indexOf(LF);
  const about = end === -1 ? undefined : parseJson(bytes.toString('utf8', 0, end));
  const body = bytes.subarray(end + 1);
  if (about?.ok !== true) return undefined;
  const { status, headers, events, sha256: hash } = about.value as unknown as KeptResponse & { sha256: string }; // our own line; the hash proves it
  return hash === sha256(body) ? { status, headers, events, body } : undefined;
}
