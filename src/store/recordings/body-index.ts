import { join } from 'node:path';
import type { StatementSync } from 'node:sqlite';
import { DatabaseSync } from '../../base/builtin/sqlite.ts';
import type { BodyPlace } from './body-files.ts';

/**
 * Digests come in no order, so every new one changes another page: small pages, and a key of sixty bits instead of a digest of
 * sixty-four characters, make that cheap. Bodies are on the disk of one node, and so is their index.
 */
const SCHEMA = `
  pragma page_size = 4096;
  pragma journal_mode = wal;
  pragma synchronous = normal;
  create table if not exists bodies (hash integer primary key, block text not null, start integer not null, bytes integer not null);
  create index if not exists bodies_block on bodies (block);
  create table if not exists requests (hash integer not null, run text not null, primary key (hash, run)) without rowid;
  create table if not exists sent (block text primary key, done integer not null) without rowid;
  create table if not exists doomed (hash integer primary key);
`;
/** A block is among those sent before its first body goes to the bucket, so that nothing in the bucket is forgotten when it must go. */
const DOOM = 'insert or ignore into doomed select hash from bodies where block in (select block from sent) and';
/** From block to block along the index, which has many bodies for each. */
const UNSENT = `
  with recursive each(block) as (
    select min(block) from bodies
    union all
    select (select min(block) from bodies where block > each.block) from each where each.block is not null
  )
  select block from each where block is not null and block not in (select block from sent where done = 1)
`;
const BUSY_TIMEOUT_MS = 5000;
export const HASH_DIGITS = 15;

/** A body in a block. */
export interface IndexedBody extends BodyPlace {
  readonly hash: bigint;
}

/** Where each body stands, and which runs sent it. */
export class BodyIndex {
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #doom: StatementSync;
  readonly #note: StatementSync;

  constructor(folder: string) {
    this.#database = new DatabaseSync(join(folder, 'index.db'), { timeout: BUSY_TIMEOUT_MS });
    this.#database.exec(SCHEMA);
    this.#find = this.#database.prepare('select block, start, bytes from bodies where hash = ?');
    this.#put = this.#database.prepare('insert or replace into bodies (hash, block, start, bytes) values (?, ?, ?, ?)');
    this.#remove = this.#database.prepare('delete from bodies where hash = ?');
    this.#doom = this.#database.prepare(`${DOOM} hash = ?`);
    this.#note = this.#database.prepare('insert or ignore into requests (hash, run) values (?, ?)');
  }

  find(sha256: string): BodyPlace | undefined {
    const row = this.#find.get(hashOf(sha256));
    return row === undefined ? undefined : { block: String(row.block), start: Number(row.start), bytes: Number(row.bytes) };
  }

  /** All or nothing. */
  together(work: () => void): void {
    this.#database.exec('begin immediate');
    try {
      work();
      this.#database.exec('commit');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback');
      throw error;
    }
  }

  put(hash: bigint, { block, start, bytes }: BodyPlace): void {
    this.#put.run(hash, block, start, bytes);
  }

  remove(sha256: string): void {
    this.#doom.run(hashOf(sha256));
    this.#remove.run(hashOf(sha256));
  }

  inBlock(block: string): IndexedBody[] {
    const statement = this.#database.prepare('select hash, start, bytes from bodies where block = ?');
    statement.setReadBigInts(true);
    return statement
      .all(block)
      .map((row) => ({ hash: BigInt(String(row.hash)), block, start: Number(row.start), bytes: Number(row.bytes) }));
  }

  dropBlock(block: string): void {
    this.#database.prepare(`${DOOM} block = ?`).run(block);
    this.#database.prepare('delete from sent where block = ?').run(block);
    this.#database.prepare('delete from bodies where block = ?').run(block);
  }

  blocks(): Set<string> {
    return new Set(
      this.#database
        .prepare('select distinct block from bodies')
        .all()
        .map((row) => String(row.block)),
    );
  }

  /** The bodies of a block stand in another one from now on. */
  moveBlock(from: string, to: string): void {
    this.#database.prepare('update sent set block = ? where block = ?').run(to, from);
  }

  /** Blocks whose bodies have not all reached the bucket, oldest first. */
  unsent(): string[] {
    return this.#database
      .prepare(UNSENT)
      .all()
      .map((row) => String(row.block));
  }

  beginSending(block: string): void {
    this.#database.prepare('insert or ignore into sent (block, done) values (?, 0)').run(block);
  }

  endSending(block: string): void {
    this.#database.prepare('update sent set done = 1 where block = ?').run(block);
  }

  isSent(block: string): boolean {
    return this.#database.prepare('select 1 from sent where block = ? and done = 1').get(block) !== undefined;
  }

  /** Bodies that the bucket must lose. One that was recorded again since then may stay. */
  doomed(): bigint[] {
    this.#database.exec('delete from doomed where hash in (select hash from bodies)');
    const statement = this.#database.prepare('select hash from doomed');
    statement.setReadBigInts(true);
    return statement.all().map((row) => BigInt(String(row.hash)));
  }

  /** The bucket has lost it. */
  buried(hash: bigint): void {
    this.#database.prepare('delete from doomed where hash = ?').run(hash);
  }

  /** The run sent this body, as its caller or to its engine. */
  note(sha256: string, run: string): void {
    this.#note.run(hashOf(sha256), run);
  }

  /** Runs that sent the body, newest first. */
  runsOf(sha256: string, limit: number): string[] {
    return this.#database
      .prepare('select run from requests where hash = ? order by run desc limit ?')
      .all(hashOf(sha256), limit)
      .map((row) => String(row.run));
  }

  forgetRun(sha256: string, run: string): void {
    this.#database.prepare('delete from requests where hash = ? and run = ?').run(hashOf(sha256), run);
  }

  /** Runs have names that begin with their time. */
  forgetRunsBefore(run: string): void {
    this.#database.prepare('delete from requests where run < ?').run(run);
  }

  close(): void {
    this.#database.close();
  }
}

export function hashOf(sha256: string): bigint {
  return BigInt(`0x${sha256.slice(0, HASH_DIGITS)}`);
}
