import { closeSync, type Dirent, fstatSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Names in a home that a backup leaves out, because a restored home has no use for them: they belong to the process that serves or to runs
 * under way.
 */
const LEFT_OUT = /^(?:address|server\.lock.*|abp\.db.*|stages|rooms|runs|before-restore-.*|restoring-.*)$/;
/** Of those, the ones that somebody might miss: the backup says that they are not in it. */
const WORTH_SAYING = /^(?:stages|rooms|before-restore-.*)$/;
/** Files that are being made, and the logs of databases that are copied whole. */
const PASSING = /\.tmp$|\.probe$|\.db-(?:wal|shm|journal)$/;

/** An open file of a home: it stays readable when it is removed, and what is appended to it meanwhile is seen. */
export interface HeldFile {
  readonly name: string;
  readonly fd: number;
}

/** Names in a home that are left out, of those that somebody might miss. */
export function leftOut(home: string): string[] {
  return readdirSync(home).filter((name) => WORTH_SAYING.test(name));
}

/** Whether a folder is the home itself, or that of a further process in it. */
function isHome(folder: string): boolean {
  return folder === '' || /^processes\/\d+$/.test(folder);
}

/** Whether a file lies in a folder of this name, of the home itself or of a further process in it. */
export function isIn(name: string, folder: string): boolean {
  const own = name.replace(/^processes\/\d+\//, '');
  return own.startsWith(`${folder}/`);
}

/** The files of a home below a folder, by their names from the home on. */
export function filesBelow(home: string, folder = ''): string[] {
  return entriesOf(home, folder).flatMap((entry) => {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if ((isHome(folder) && LEFT_OUT.test(entry.name)) || PASSING.test(entry.name)) return [];
    if (entry.isDirectory()) return filesBelow(home, name);
    return entry.isFile() ? [name] : [];
  });
}

/** A folder inside of the home may vanish while a server is at work in it. */
function entriesOf(home: string, folder: string): Dirent[] {
  try {
    return readdirSync(join(home, folder), { withFileTypes: true });
  } catch (error) {
    if (folder !== '' && error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Opens files; those that have vanished in the meantime are none. */
export function hold(home: string, names: readonly string[]): HeldFile[] {
  return names.flatMap((name) => {
    try {
      return [{ name, fd: openSync(join(home, name), 'r') }];
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw error;
    }
  });
}

export function sizeOf({ fd }: HeldFile): number {
  return fstatSync(fd).size;
}

export function release(files: readonly HeldFile[]): void {
  for (const { fd } of files) closeSync(fd);
}
