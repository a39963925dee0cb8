import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Files of a repository that say where it stands. No program, no setting and no remote is among them. */
const STATE = ['HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'index'];
const SHARED_STATE = ['packed-refs', 'refs', 'shallow'];

const LARGEST_READ = 256 * 1024;

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

/** A repository whose history is left out, and why. */
export interface LeftOut {
  readonly leftOut: string;
}

/**
 * Gives a staged copy the history of the original without running git: the state is copied, the objects are referred to. Commits in the
 * copy change nothing in the original. Undefined where there is no history. The folder of the objects is shown to the agent, and an agent
 * of before may have written to the repository: it cannot name any other folder, unless the repository there names this workspace.
 */
export function shareHistory(source: string, staged: string): History | LeftOut | undefined {
  const found = repositoryOf(source);
  if (found === undefined || 'leftOut' in found) return found;
  const { own, common } = found;
  const objects = join(common, 'objects');
  if (lstatSync(objects, { throwIfNoEntry: false })?.isDirectory() !== true) return { leftOut: 'the objects lie elsewhere' };
  if (existsSync(join(common, 'reftable')) || usesExtensions(common)) return { leftOut: 'the form is not known here' };
  if (existsSync(join(objects, 'info', 'alternates'))) return { leftOut: 'some objects lie elsewhere (objects/info/alternates)' };
  const target = join(staged, '.git');
  mkdirSync(join(target, 'objects', 'info'), { recursive: true });
  mkdirSync(join(target, 'refs', 'heads'), { recursive: true });
  writeFileSync(join(target, 'config'), CONFIG);
  writeFileSync(join(target, 'objects', 'info', 'alternates'), `${objects}\n`);
  copyState(own, target, STATE);
  copyState(common, target, SHARED_STATE);
  return { objects: [objects] };
}

function copyState(from: string, to: string, names: readonly string[]): void {
  for (const name of names) {
    if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
  }
}

interface Repository {
  readonly own: string;
  /** Where its objects are: its own folder, but for worktrees. */
  readonly common: string;
}

/** The `.git` of a folder, also where it is the file of a worktree or a submodule. */
function repositoryOf(source: string): Repository | LeftOut | undefined {
  const path = join(source, '.git');
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) {
    if (!existsSync(join(path, 'HEAD'))) return undefined;
    return existsSync(join(path, 'commondir')) ? { leftOut: 'the objects lie elsewhere (commondir)' } : { own: path, common: path };
  }
  const named = found?.isFile() === true ? textIn(path) : undefined;
  const [, folder] = /^gitdir: ([^\n]+)/.exec(named ?? '') ?? [];
  if (folder === undefined) return undefined;
  const own = resolve(source, folder);
  if (!existsSync(join(own, 'HEAD'))) return undefined;
  return repositoryOutside(source, own) ?? { leftOut: 'the folder that .git names does not name this one' };
}

/** A worktree's repository says where its `.git` is, that of a submodule where its files are. */
function repositoryOutside(source: string, own: string): Repository | undefined {
  const worktree = textIn(join(own, 'gitdir'))?.trim();
  if (worktree !== undefined && samePlace(resolve(own, worktree), join(source, '.git'))) {
    const common = dirname(dirname(own));
    return basename(dirname(own)) === 'worktrees' && existsSync(join(common, 'HEAD')) ? { own, common } : undefined;
  }
  const files = (textIn(join(own, 'config')) ?? '').split('\n').flatMap((line) => {
    const [name, value] = line.split('=').map((part) => part.trim().replaceAll('"', ''));
    return name === 'worktree' && value !== undefined ? [resolve(own, value)] : [];
  });
  return files.some((path) => samePlace(path, source)) ? { own, common: own } : undefined;
}

function samePlace(a: string, b: string): boolean {
  return existsSync(a) && existsSync(b) && realpathSync(a) === realpathSync(b);
}

/** Undefined for what is no small file of its own. */
function textIn(file: string): string | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size <= LARGEST_READ ? readFileSync(file, 'utf8') : undefined;
}

/** Other forms of objects and references, which the copy would misread. */
function usesExtensions(common: string): boolean {
  return /^\s*(?:objectformat|refstorage|partialclone)\s*=/im.test(textIn(join(common, 'config')) ?? '');
}
