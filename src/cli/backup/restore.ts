import { createWriteStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Extract, extract, type Header } from 'tar-stream';
import type { z } from 'zod';
import { listIn, parseJson } from '../../base/json.ts';
import { makeFolders } from '../../base/paths/make-folders.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import { isServed } from '../../home/server-lock.ts';
import { openTarget } from '../../store/backup/open.ts';
import type { Row } from '../../store/backup/snapshot.ts';
import { type RestoreTarget, stepOf } from '../../store/backup/target.ts';
import { ACCOUNT, Account, FORMAT, HOME, MANIFEST, Manifest, TABLES } from './format.ts';
import { takeHeads } from './take-heads.ts';

export interface RestoreOptions {
  /** The bytes of the backup, from their beginning; they are read twice. */
  readonly source: () => Readable;
  /** The folder that becomes the home. */
  readonly home: string;
  readonly databaseUrl: string | undefined;
  /** Whether what is there may be replaced. */
  readonly force: boolean;
  readonly onProgress?: (account: Account) => void;
}

export interface Restored extends Account {
  readonly manifest: Manifest;
  /** Where the home that was there before has gone. */
  readonly before: string | undefined;
}

/**
 * Makes a home and its database of a backup. The backup is read and counted to its end before anything is touched. Files then wait in a
 * folder inside the home, which may be a disk of its own, and rows in a transaction, until all of them are there.
 */
export async function readBackup(options: RestoreOptions): Promise<Restored> {
  const { home, force } = options;
  assertFree(home, force);
  await unpack(options, undefined);
  makeFolders(home, 0o700);
  // A restore that was killed may have left its folder.
  for (const name of readdirSync(home).filter((one) => one.startsWith('restoring-')))
    rmSync(join(home, name), { recursive: true, force: true });
  const mark = new Date().toISOString().replaceAll(/[:.]/g, '-');
  const waiting = join(home, `restoring-${mark}`);
  mkdirSync(waiting, { mode: 0o700 });
  try {
    const { manifest, account, database } = await unpack(options, waiting);
    takeHeads(waiting, manifest, database);
    const before = moveAside(home, mark);
    for (const name of readdirSync(waiting)) renameSync(join(waiting, name), join(home, name));
    return { manifest, ...account, before };
  } finally {
    rmSync(waiting, { recursive: true, force: true });
  }
}

/** Throws where a server works on the home, or where it holds something that may not go. */
function assertFree(home: string, force: boolean): void {
  if (!existsSync(home)) return;
  if (isServed(join(home, 'server.lock')))
    throw new AbpError('conflict', `a server works on the home ${home}`, { home }, 'Stop it first, or name another home with --home.');
  const names = readdirSync(home).filter((name) => !ASIDE.test(name));
  if (names.length === 0 || force) return;
  throw new AbpError(
    'conflict',
    `the home ${home} is not empty: it has ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`,
    { home },
    'Name an empty folder with --home, or give --force: what is there is then set aside, not deleted.',
  );
}

const ASIDE = /^(?:before-restore-|restoring-|lost\+found$)/;

/** Moves what the home holds into a folder of its own; undefined where it held nothing. */
function moveAside(home: string, mark: string): string | undefined {
  const names = readdirSync(home).filter((name) => !ASIDE.test(name));
  if (names.length === 0) return undefined;
  const aside = join(home, `before-restore-${mark}`);
  mkdirSync(aside, { mode: 0o700 });
  for (const name of names) renameSync(join(home, name), join(aside, name));
  return aside;
}

interface Unpacked {
  /** The name of the PostgreSQL database that has the rows now; undefined for SQLite. */
  readonly database: string | undefined;
  readonly manifest: Manifest;
  readonly account: Account;
}

/** Reads the backup to its end; without a folder to put files into, only to count it. */
async function unpack(options: RestoreOptions, waiting: string | undefined): Promise<Unpacked> {
  const entries = extract();
  const reading = pipeline(options.source(), createGunzip(), (chunks: AsyncIterable<Buffer>) => pour(chunks, entries));
  // The loop over the entries fails with the same error, and tells it.
  reading.catch((error: unknown) => entries.destroy(error instanceof Error ? error : new Error(String(error))));
  const unpacking = new Unpacking(options, waiting);
  const ticking = setInterval(() => options.onProgress?.(unpacking.account), 2000);
  try {
    for await (const entry of entries) await unpacking.take(entry.header, Readable.from(entry));
    await reading;
    return await unpacking.finish();
  } catch (error) {
    await unpacking.abort();
    entries.destroy();
    throw damaged(error);
  } finally {
    clearInterval(ticking);
  }
}

/** The archive's streams are not Node's own, so that its pipeline does not take them. */
async function pour(chunks: AsyncIterable<Buffer>, entries: Extract): Promise<void> {
  let goOn = (): void => undefined;
  for (const event of ['drain', 'close'] as const) entries.on(event, () => goOn());
  for await (const chunk of chunks) {
    if (entries.destroyed) return;
    const drained = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    if (!entries.write(chunk)) await drained;
  }
  entries.end(undefined);
}

/** Faults of the file itself are told as such. */
function damaged(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isOurs = AbpError.is(error) || !(error instanceof Error);
  if (isOurs || !(code.startsWith('Z_') || /tar|header|end of data|premature/i.test(error.message))) return error;
  return notABackup(`it is damaged or cut off (${error.message})`);
}

function notABackup(reason: string): AbpError {
  return new AbpError('invalid_request', `this is no whole backup of abp: ${reason}`, {}, 'Take the file that abp backup has written.');
}

/** Entries as they come: the manifest first, the account of all at the end. */
class Unpacking {
  readonly #options: RestoreOptions;
  readonly #waiting: string | undefined;
  #manifest: Manifest | undefined;
  #target: RestoreTarget | undefined;
  #claimed: Account | undefined;
  readonly #rows: Record<string, number> = {};
  #files = 0;
  #bytes = 0;

  constructor(options: RestoreOptions, waiting: string | undefined) {
    this.#options = options;
    this.#waiting = waiting;
  }

  get account(): Account {
    return { rows: this.#rows, files: this.#files, bytes: this.#bytes };
  }

  async take(header: Pick<Header, 'name' | 'type' | 'size'>, content: Readable): Promise<void> {
    const { name } = header;
    if (name === MANIFEST) return await this.#begin(jsonOf(Manifest, await text(content), name));
    if (this.#manifest === undefined) throw notABackup(`it begins with ${name}`);
    if (name === ACCOUNT) this.#claimed = jsonOf(Account, await text(content), name);
    else if (name.startsWith(TABLES)) await this.#insert(name.slice(TABLES.length).split('/')[0] ?? '', await text(content));
    else if (name.startsWith(HOME)) await this.#write({ ...header, name: name.slice(HOME.length) }, content);
    else throw notABackup(`it has an entry ${name}`);
  }

  async #begin(manifest: Manifest): Promise<void> {
    if (manifest.format !== FORMAT) throw notABackup(`its format is ${manifest.format}, this version of abp reads ${FORMAT}`);
    const { databaseUrl: url, force } = this.#options;
    const { migrations, tables } = manifest;
    this.#manifest = manifest;
    stepOf(migrations);
    if (this.#waiting !== undefined) {
      const order = { migrations, tables: tables.map(({ name }) => name), force };
      this.#target = await openTarget({ url, file: join(this.#waiting, 'abp.db') }, order);
    }
    for (const { name } of tables) this.#rows[name] = 0;
  }

  async #insert(table: string, lines: string): Promise<void> {
    const columns = this.#manifest?.tables.find(({ name }) => name === table)?.columns;
    if (columns === undefined) throw notABackup(`it has rows of ${table}, which its manifest does not name`);
    const rows = lines.split('\n').flatMap((line) => (line === '' ? [] : [rowOf(line, columns.length)]));
    await this.#target?.insert(table, columns, rows);
    this.#rows[table] = (this.#rows[table] ?? 0) + rows.length;
  }

  async #write({ name, type, size }: Pick<Header, 'name' | 'type' | 'size'>, content: Readable): Promise<void> {
    const isInside =
      name !== '' && posix.normalize(name) === name && !posix.isAbsolute(name) && !name.startsWith('..') && !name.includes('\\');
    if (!isInside || type !== 'file') throw notABackup(`it has an entry ${name} that is no file of a home`);
    if (this.#waiting === undefined) await finished(content.resume());
    else await put(join(this.#waiting, name), content);
    this.#files += 1;
    this.#bytes += size;
  }

  async finish(): Promise<Unpacked> {
    if (this.#manifest === undefined || this.#claimed === undefined) throw notABackup('its end is missing');
    const { rows, files, bytes } = this.#claimed;
    const isWhole =
      files === this.#files && bytes === this.#bytes && Object.entries(rows).every(([table, count]) => this.#rows[table] === count);
    if (!isWhole) throw notABackup('it holds less than its account says');
    const database = this.#target?.database;
    await this.#target?.finish();
    this.#target = undefined;
    return { manifest: this.#manifest, account: this.#claimed, database };
  }

  async abort(): Promise<void> {
    await this.#target?.abort();
  }
}

async function put(file: string, content: Readable): Promise<void> {
  makeFolders(dirname(file), 0o700);
  await pipeline(content, createWriteStream(file, { mode: 0o600, flags: 'wx', flush: true }));
}

function jsonOf<T>(schema: z.ZodType<T>, content: string, name: string): T {
  const parsed = parseJson(content);
  if (!parsed.ok) throw notABackup(`${name} is not JSON`);
  return parseAt(schema, parsed.value, name);
}

function rowOf(line: string, columns: number): Row {
  const parsed = parseJson(line);
  const values = parsed.ok ? listIn(parsed.value) : [];
  if (values.length !== columns) throw notABackup('a row is not as long as its columns');
  return values.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number') return value;
    throw notABackup('a row holds something else than texts and numbers');
  });
}
