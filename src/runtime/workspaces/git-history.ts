import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Files of a repository that say where it stands. No program, no setting and no remote is among them. */
const STATE = ['HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'index'];
const SHARED_STATE = ['packed-refs', 'refs', 'shallow'];

/** The settings of the copy: none of the user's, so that nothing is run and nobody is named. */
const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[gc]
\tauto = 0
[user]
\tname = agent
\temail = agent@localhost
`;

/** The history of a repository for its staged copy. */
export interface History {
  /** Folders of the original that hold its objects: the copy reads them where they are. */
  readonly objects: readonly string[];
}

/**
 * Gives a staged copy the history of the original without running git: the state is copied, the objects are referred to. Commits in the
 * copy change nothing in the original. Undefined where there is no history, or one in a form that this cannot read.
 */
export function shareHistory(source: string, staged: string): History | undefined {
  const own = repositoryOf(source);
  if (own === undefined) return undefined;
  const common = commonOf(own);
  const objects = join(common, 'objects');
  if (!existsSync(objects) || existsSync(join(common, 'reftable')) || usesExtensions(common)) return undefined;
  const target = join(staged, '.git');
  mkdirSync(join(target, 'objects', 'info'), { recursive: true });
  mkdirSync(join(target, 'refs', 'heads'), { recursive: true });
  writeFileSync(join(target, 'config'), CONFIG);
  writeFileSync(join(target, 'objects', 'info', 'alternates'), `${objects}\n`);
  copyState(own, target, STATE);
  copyState(common, target, SHARED_STATE);
  return { objects: [objects, ...furtherObjects(objects)] };
}

function copyState(from: string, to: string, names: readonly string[]): void {
  for (const name of names) {
    if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
  }
}

/** The `.git` of a folder, also where it is the file of a worktree. */
function repositoryOf(source: string): string | undefined {
  const path = join(source, '.git');
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return existsSync(join(path, 'HEAD')) ? path : undefined;
  if (found?.isFile() !== true || found.size > 4096) return undefined;
  const [, named] = /^gitdir: ([^\n]+)/.exec(readFileSync(path, 'utf8')) ?? [];
  const folder = named === undefined ? undefined : resolve(source, named);
  return folder !== undefined && existsSync(join(folder, 'HEAD')) ? folder : undefined;
}

function commonOf(repository: string): string {
  const file = join(repository, 'commondir');
  return existsSync(file) ? resolve(repository, readFileSync(file, 'utf8').trim()) : repository;
}

/** Other forms of objects and references, which the copy would misread. */
function usesExtensions(common: string): boolean {
  const config = join(common, 'config');
  return existsSync(config) && /^\s*(?:objectformat|refstorage|partialclone)\s*=/im.test(readFileSync(config, 'utf8'));
}

/** A repository that itself refers to the objects of others. */
function furtherObjects(objects: string): string[] {
  const file = join(objects, 'info', 'alternates');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => resolve(objects, line))
    .filter((path) => existsSync(path));
}
