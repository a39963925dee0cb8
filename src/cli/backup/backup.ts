import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { copyDatabase, DatabaseSync } from '../../base/builtin/sqlite.ts';
import { isoTime } from '../../base/clock.ts';
import { packageVersion } from '../../base/own-files.ts';
import type { Home } from '../../home/home.ts';
import { openSnapshot } from '../../store/backup/open.ts';
import type { Snapshot } from '../../store/backup/snapshot.ts';
import { ArchiveWriter, contentOf } from './archive-writer.ts';
import { ACCOUNT, type Account, FORMAT, HOME, MANIFEST, type Manifest } from './format.ts';
import { filesBelow, type HeldFile, hold, isIn, leftOut, release } from './home-files.ts';

export interface BackupOptions {
  readonly home: Pick<Home, 'path' | 'nodeId' | 'databaseFile'>;
  readonly databaseUrl: string | undefined;
  readonly target: Writable;
  /** Told now and then how far it is. */
  readonly onProgress?: (account: Account) => void;
}

export interface Backup extends Account {
  readonly manifest: Manifest;
}

/**
 * Writes a backup of a home and its database, also while a server works on them. What it holds is complete up to the moment at which the
 * database is looked at: heads of the chain are read before that, so that none names an entry that is missing, and segments of the journal
 * are opened before and read after, so that no fact is lost that the database does not have yet.
 */
export async function writeBackup({ home, databaseUrl, target, onProgress }: BackupOptions): Promise<Backup> {
  const heads = withContents(
    home.path,
    filesBelow(home.path).filter((name) => isIn(name, 'seal-keys')),
  );
  const journal = hold(home.path, journalOf(home.path));
  const snapshot = await openSnapshot({ url: databaseUrl, file: home.databaseFile }).catch((error: unknown) => {
    release(journal);
    throw error;
  });
  const begun = new Set(journal.map(({ name }) => name));
  journal.push(
    ...hold(
      home.path,
      journalOf(home.path).filter((name) => !begun.has(name)),
    ),
  );
  const manifest = manifestOf(home, snapshot);
  const writer = new ArchiveWriter();
  const written = pipeline(writer.stream, createGzip(), target);
  const ticking = setInterval(() => onProgress?.(writer.account), 2000);
  try {
    await Promise.all([written, fill(writer, { home: home.path, manifest, heads, journal, snapshot })]);
    return { manifest, ...writer.account };
  } finally {
    clearInterval(ticking);
    release(journal);
    await snapshot.close();
  }
}

const journalOf = (home: string): string[] => filesBelow(home).filter((name) => isIn(name, 'journal'));

function withContents(home: string, names: readonly string[]): (readonly [name: string, content: Buffer])[] {
  const held = hold(home, names);
  try {
    return held.map((file) => [file.name, contentOf(file)] as const);
  } finally {
    release(held);
  }
}

function manifestOf({ path, nodeId }: BackupOptions['home'], snapshot: Snapshot): Manifest {
  return {
    format: FORMAT,
    version: packageVersion(),
    created_at: isoTime(Date.now()),
    node: nodeId,
    database: snapshot.database === undefined ? 'sqlite' : 'postgres',
    database_name: snapshot.database ?? null,
    migrations: [...snapshot.migrations],
    tables: snapshot.tables.map(({ name, columns }) => ({ name, columns: [...columns] })),
    left_out: leftOut(path),
  };
}

interface Contents {
  readonly home: string;
  readonly manifest: Manifest;
  readonly heads: readonly (readonly [name: string, content: Buffer])[];
  readonly journal: readonly HeldFile[];
  readonly snapshot: Snapshot;
}

async function fill(writer: ArchiveWriter, { home, manifest, heads, journal, snapshot }: Contents): Promise<void> {
  try {
    await writer.json(MANIFEST, manifest);
    for (const table of snapshot.tables) await writer.table(table);
    for (const [name, content] of heads) await writer.bytes(`${HOME}${name}`, content);
    for (const file of journal) await writer.file(`${HOME}${file.name}`, file);
    for (const name of filesBelow(home).filter((one) => !isIn(one, 'seal-keys') && !isIn(one, 'journal')))
      await addFile(writer, home, name);
    await writer.json(ACCOUNT, writer.account);
    writer.end();
  } catch (error) {
    writer.fail(error instanceof Error ? error : new Error(String(error)));
    throw error;
  }
}

async function addFile(writer: ArchiveWriter, home: string, name: string): Promise<void> {
  if (name.endsWith('.db')) return await addDatabase(writer, home, name);
  const held = hold(home, [name]);
  try {
    for (const file of held) await writer.file(`${HOME}${name}`, file);
  } finally {
    release(held);
  }
}

/** A database beside the main one, such as the index of bodies: as it is at one moment. */
async function addDatabase(writer: ArchiveWriter, home: string, name: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'abp-backup-'));
  const source = new DatabaseSync(join(home, name), { timeout: 5000 });
  try {
    // All pages in one step: a copy in several begins anew whenever somebody writes in between.
    await copyDatabase(source, join(folder, 'copy.db'), { rate: 2 ** 30 });
    const held = hold(folder, ['copy.db']);
    try {
      for (const file of held) await writer.file(`${HOME}${name}`, file);
    } finally {
      release(held);
    }
  } finally {
    source.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
