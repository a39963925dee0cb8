import { lstat, opendir, readFile, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { canonicalJson, sha256 } from '../../base/canonical-json.ts';
import type { WorkspaceDelta } from '../../contract/receipts/parts.ts';
import type { ChangeSetRecord } from './change-set.ts';
import { type IgnoreFile, type IgnoreRule, isIgnored, parseIgnoreRules } from './ignore-rules.ts';

/** A folder with more files than this is not compared, nor one that takes longer to read. */
const MOST_FILES = 20_000;
const LONGEST_MS = 10_000;
/** Up to this much is compared by content; beyond it by size and time. */
const MOST_HASHED_BYTES = 32 * 1024 * 1024;
const LARGEST_IGNORE_FILE = 64 * 1024;
const MOST_IGNORE_FILES = 200;
/** The part of a home that holds the workspaces of sessions, and nothing of the home's own. */
const SESSIONS = 'workspaces';
const SKIPPED = new Set(['.git', 'node_modules', '.venv', '__pycache__']);
const IGNORE_FILE = '.gitignore';

/** The files of a workspace at one moment. */
export interface Snapshot {
  /** By its path, what tells whether the file changed: kind, mode, and content or size and time. */
  readonly files: ReadonlyMap<string, string>;
  /** The rules of ignoring at that time. */
  readonly ignored: readonly IgnoreFile[];
}

/**
 * The files under a folder; undefined when there are too many to compare. Git is never asked: a repository that an agent has written may
 * name programs that git runs. What `.gitignore` names is no part of the work; a later look is given the `earlier` one and goes by its
 * rules, so that an agent cannot hide a file by ignoring it. The home is never read, workspaces apart: a process that closes any
 * descriptor of a file loses its locks on it, and those of the home keep its databases whole. A file with several names may be one of
 * the home's, and is compared by size and time.
 */
export async function snapshot(folder: string, home: string, earlier?: Snapshot): Promise<Snapshot | undefined> {
  const walk = new Walk(folder, await outsideOf(folder, home), earlier?.ignored ?? (await rulesAbove(folder, home)));
  const names = await walk.names(earlier === undefined);
  if (names === undefined) return undefined;
  const files = new Map<string, string>();
  let hashed = 0;
  for (const name of names.sort()) {
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) continue;
    if (walk.isLate()) return undefined;
    hashed += found.size;
    // A link may lead anywhere, also into the home: where it leads is read, never what is there.
    const content = found.isSymbolicLink()
      ? readlink(path)
      : hashed <= MOST_HASHED_BYTES && found.nlink === 1
        ? contentMark(path)
        : undefined;
    // A file that cannot be read is compared by size and time.
    const mark = await content?.catch(() => undefined);
    files.set(name, `${found.mode.toString(8)} ${mark ?? `${found.size} ${found.mtimeMs}`}`);
  }
  return { files, ignored: walk.ignored };
}

/** One walk through the folders of a workspace. */
class Walk {
  readonly ignored: IgnoreFile[];
  readonly #folder: string;
  readonly #outside: (name: string) => boolean;
  readonly #until = performance.now() + LONGEST_MS;

  constructor(folder: string, outside: (name: string) => boolean, ignored: readonly IgnoreFile[]) {
    this.#folder = folder;
    this.#outside = outside;
    this.ignored = [...ignored];
  }

  isLate(): boolean {
    return performance.now() > this.#until;
  }

  /** Paths of files and links; undefined when there are too many, or it takes too long. */
  async names(readsRules: boolean): Promise<string[] | undefined> {
    const names: string[] = [];
    const open = [''];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (readsRules) this.#learn(next, await rulesIn(join(this.#folder, next)));
      for await (const { name, isFolder } of this.#entries(next)) {
        (isFolder ? open : names).push(name);
        if (names.length + open.length > MOST_FILES || this.isLate()) return undefined;
      }
    }
    return names;
  }

  async *#entries(folder: string): AsyncGenerator<{ name: string; isFolder: boolean }> {
    // A folder that vanished or may not be read has nothing to show.
    const entries = await opendir(join(this.#folder, folder)).catch(() => undefined);
    if (entries === undefined) return;
    for await (const entry of entries) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const isFolder = entry.isDirectory();
      const isShown = isFolder || entry.isFile() || entry.isSymbolicLink();
      if (isShown && !this.#skips(entry.name, name, isFolder)) yield { name, isFolder };
    }
  }

  #learn(folder: string, rules: readonly IgnoreRule[]): void {
    if (rules.length > 0 && this.ignored.length < MOST_IGNORE_FILES) this.ignored.push({ folder, rules });
  }

  #skips(ownName: string, name: string, isFolder: boolean): boolean {
    return (isFolder && SKIPPED.has(ownName)) || !this.#outside(name) || isIgnored(this.ignored, name, isFolder);
  }
}

/** Rules of the repository that the folder lies in, from its top down to the folder. One that the home lies in is not looked for. */
async function rulesAbove(folder: string, home: string): Promise<IgnoreFile[]> {
  const ways: string[] = [];
  const ceiling = resolve(home);
  for (let above = resolve(folder); ; above = dirname(above)) {
    if (above === ceiling) return [];
    ways.push(relative(above, resolve(folder)).split(sep).join('/'));
    const isTop = (await lstat(join(above, '.git')).catch(() => undefined)) !== undefined;
    if (isTop) break;
    if (above === dirname(above)) return [];
  }
  const files: IgnoreFile[] = [];
  for (const way of ways.toReversed().filter((one) => one !== '')) {
    const top = way.split('/').map(() => '..');
    const rules = await rulesIn(join(folder, ...top));
    if (rules.length > 0) files.push({ folder: '', way, rules });
  }
  return files;
}

async function rulesIn(folder: string): Promise<IgnoreRule[]> {
  const file = join(folder, IGNORE_FILE);
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() !== true || found.nlink !== 1 || found.size > LARGEST_IGNORE_FILE) return [];
  // Rules that cannot be read ignore nothing: more is shown then, not less.
  return parseIgnoreRules(await readFile(file, 'utf8').catch(() => ''));
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

async function contentMark(file: string): Promise<string> {
  return sha256(await readFile(file));
}

/** The changes between two moments as one thing, by digest: each path with what told it apart before and after. */
export function inPlaceChanges({ files: before }: Snapshot, { files: after }: Snapshot): ChangeSetRecord {
  const names = [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name)).sort();
  const changes = names.map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }));
  const form = canonicalJson({ version: 'abp-changes-in-place/1', changes });
  return {
    sha256: sha256(form),
    bytes: Buffer.byteLength(form),
    added: changes.filter((change) => change.before === null).length,
    modified: changes.filter((change) => change.before !== null && change.after !== null).length,
    removed: changes.filter((change) => change.after === null).length,
    state: 'in_place',
  };
}

/** The changes between two moments. */
export function workspaceDelta({ files: before }: Snapshot, { files: after }: Snapshot): WorkspaceDelta {
  return {
    added: [...after.keys()].filter((name) => !before.has(name)).sort(),
    modified: [...after].filter(([name, mark]) => before.has(name) && before.get(name) !== mark).map(([name]) => name),
    removed: [...before.keys()].filter((name) => !after.has(name)).sort(),
    patch_sha256: null,
  };
}
