import { lstat, opendir, readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { sha256 } from '../../base/canonical-json.ts';
import { runCommand } from '../../base/subprocess.ts';
import type { WorkspaceDelta } from '../../contract/receipts/receipt.ts';

/** A folder with more files than this is not compared. */
const MOST_FILES = 20_000;
/** Folders without git are scanned by hand, so they may hold less. */
const MOST_SCANNED = 5000;
/** Up to this much is compared by content; beyond it by size and time. */
const MOST_HASHED_BYTES = 32 * 1024 * 1024;
const GIT_MS = 10_000;
/** The part of a home that holds the workspaces of sessions, and nothing of the home's own. */
const SESSIONS = 'workspaces';
const SKIPPED = new Set(['.git', 'node_modules', '.venv', '__pycache__']);

/** The files of a workspace at one moment, each with what tells whether it changed. */
export type Snapshot = ReadonlyMap<string, string>;

/**
 * The files under a folder; undefined when there are too many to compare. What git ignores is no part of the work. The home is never
 * read, workspaces apart: a process that closes any descriptor of a file loses its locks on it, and those of the home keep its
 * databases whole.
 */
export async function snapshot(folder: string, home: string): Promise<Snapshot | undefined> {
  const outside = await outsideOf(folder, home);
  const names = ((await gitFiles(folder, home)) ?? (await scannedFiles(folder)))?.filter(outside);
  if (names === undefined || names.length > MOST_FILES) return undefined;
  const marks = new Map<string, string>();
  let hashed = 0;
  for (const name of names.sort()) {
    const found = await lstat(join(folder, name)).catch(() => undefined);
    // A link may lead anywhere, also into the home.
    if (found?.isFile() !== true) continue;
    hashed += found.size;
    const mark = hashed <= MOST_HASHED_BYTES ? await contentMark(join(folder, name)) : undefined;
    marks.set(name, mark ?? `${found.size} ${found.mtimeMs}`);
  }
  return marks;
}

/** Whether a path under the folder lies outside of the home. */
async function outsideOf(folder: string, home: string): Promise<(name: string) => boolean> {
  const [here, there] = await Promise.all([folder, home].map((path) => realpath(path).catch(() => resolve(path))));
  if (here === undefined || there === undefined) return () => false;
  if (isWithin(join(there, SESSIONS), here)) return () => true;
  return (name) => !isWithin(there, join(here, name));
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith('..') && !isAbsolute(way);
}

async function contentMark(file: string): Promise<string | undefined> {
  // A file that cannot be read is compared by size and time.
  return await readFile(file).then(sha256, () => undefined);
}

/** Tracked files and new ones that are not ignored; undefined outside of a repository. One that the home lies in is not looked for. */
async function gitFiles(folder: string, home: string): Promise<string[] | undefined> {
  const listed = await runCommand('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: folder,
    timeoutMs: GIT_MS,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: home },
  }).catch(() => undefined);
  return listed?.code === 0 ? listed.stdout.split('\0').filter((name) => name !== '') : undefined;
}

async function scannedFiles(folder: string): Promise<string[] | undefined> {
  const names: string[] = [];
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const entries = await opendir(next).catch(() => undefined);
    if (entries === undefined) continue;
    for await (const entry of entries) {
      const path = join(next, entry.name);
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) open.push(path);
      else if (entry.isFile()) names.push(relative(folder, path).split(sep).join('/'));
      if (names.length + open.length > MOST_SCANNED) return undefined;
    }
  }
  return names;
}

/** What changed between two moments. */
export function workspaceDelta(before: Snapshot, after: Snapshot): WorkspaceDelta {
  return {
    added: [...after.keys()].filter((name) => !before.has(name)).sort(),
    modified: [...after].filter(([name, mark]) => before.has(name) && before.get(name) !== mark).map(([name]) => name),
    removed: [...before.keys()].filter((name) => !after.has(name)).sort(),
    patch_sha256: null,
  };
}
