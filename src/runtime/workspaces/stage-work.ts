import { lchownSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../base/canonical-json.ts';
import { pathGlob } from '../../base/glob.ts';
import { removeTree } from '../../base/paths/remove-tree.ts';
import type { WorkspaceDelta } from '../../contract/receipts/parts.ts';
import {
  CHANGES_FILE,
  CHECK_TREE,
  type Change,
  type ChangeSetRecord,
  changeSetRecord,
  changesBetween,
  deltaOf,
  PATCH_FILE,
  pathKeyOf,
  stageRecord,
  TREE,
} from './change-set.ts';
import { type CopyLimits, copyTree, type Owner } from './copy-tree.ts';
import { type History, type LeftOut, shareHistory } from './git-history.ts';
import { innerLinks, type Meant, markOf, patternsBehind, sharedFiles } from './other-names.ts';
import { type Contents, patchOf } from './patch.ts';
import { makePlace } from './stage-place.ts';
import {
  childOf,
  digestOf,
  entriesIn,
  fileOf,
  type Looks,
  nameOf,
  type PathKey,
  pathsAround,
  type Seen,
  textOf,
  walkTree,
} from './tree.ts';

/** Which files are staged, and which of them are not. */
export interface StagePlan {
  /** The folder whose copy is made; a real path. */
  readonly source: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
  /** Large folders of dependencies are left where they are, to be shown read-only. */
  readonly borrows: boolean;
  readonly limits: CopyLimits;
  /** The user that the agent runs as inside the copy, where that is another one than ours. */
  readonly owner?: Owner;
}

/** The outcome of a staging. */
export interface Staged {
  readonly files: number;
  readonly bytes: number;
  /** Paths of folders that were left in the original. */
  readonly borrowed: readonly string[];
  readonly history: History | null;
  /** Why the copy has no history, where the original has one. */
  readonly historyLeftOut?: string;
}

const BASE_FILE = 'base.json';

const BORROWED = new Set(['node_modules', '.venv']);
const LARGEST_SHOWN = 8 * 1024 * 1024;
/** An agent may make more files than are copied; beyond these its work is not told. */
const MOST_COMPARED = 500_000;

/** Copies the source into the tree of a stage and writes down what was copied. Blocks: run it on a thread. */
export function makeStage(folder: string, plan: StagePlan): Staged {
  const tree = join(folder, TREE);
  makePlace(folder, TREE);
  const borrowed: PathKey[] = [];
  const behind = behindLinks(plan);
  const looks = looksFor(withRules(plan, behind), (key) => borrowed.push(key));
  const copied = copyTree({ source: plan.source, target: tree, looks, limits: plan.limits, owner: plan.owner });
  const shared = (plan.denyRead.length === 0 ? shareHistory(plan.source, tree) : historyDenied(plan.source)) ?? null;
  const history = shared !== null && 'objects' in shared ? shared : null;
  // Places for what is shown from the original.
  for (const key of borrowed) mkdirSync(fileOf(tree, key), { recursive: true });
  if (plan.owner !== undefined) handOver(tree, borrowed, history !== null, plan.owner);
  const base: Base = { borrowed, seen: [...copied], behind };
  writeFileSync(join(folder, BASE_FILE), JSON.stringify(base), { mode: 0o600 });
  let bytes = 0;
  for (const { node } of copied.values()) bytes += node.type === 'file' ? node.bytes : 0;
  const withoutHistory = shared !== null && 'leftOut' in shared ? { historyLeftOut: shared.leftOut } : {};
  return { files: copied.size, bytes, borrowed: borrowed.map(textOf), history, ...withoutHistory };
}

/** Rules for paths that follow from those of a policy: a path has other names by the links of its workspace. */
interface Behind {
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
}

function behindLinks({ source, denyRead, denyWrite }: StagePlan): Behind {
  if (denyRead.length === 0 && denyWrite.length === 0) return { denyRead, denyWrite };
  const links = innerLinks(source, meantBy(denyRead));
  return { denyRead: patternsBehind(denyRead, links), denyWrite: patternsBehind(denyWrite, links) };
}

function withRules(plan: StagePlan, { denyRead, denyWrite }: Behind): StagePlan {
  return { ...plan, denyRead: [...plan.denyRead, ...denyRead], denyWrite: [...plan.denyWrite, ...denyWrite] };
}

/** Never through a link: a repository may hold some that lead anywhere. */
function handOver(tree: string, borrowed: readonly PathKey[], history: boolean, { uid, gid }: Owner): void {
  lchownSync(tree, uid, gid);
  for (const key of borrowed) lchownSync(fileOf(tree, key), uid, gid);
  if (!history) return;
  const repository = join(tree, '.git');
  lchownSync(repository, uid, gid);
  for (const key of walkTree(repository, () => true).keys()) lchownSync(fileOf(repository, key), uid, gid);
}

/** A history may hold what must not be read, as it once was; nothing but reading all of it would tell. */
function historyDenied(source: string): LeftOut | undefined {
  return lstatSync(join(source, '.git'), { throwIfNoEntry: false }) === undefined
    ? undefined
    : { leftOut: 'it may hold what deny_read names' };
}

/**
 * Exclusion wins, then inclusion must match a file where there is any. Repositories are never copied: they hold programs that git runs.
 * `borrow` is told of folders that are not copied but shown.
 */
function looksFor(plan: StagePlan, borrow: (key: PathKey) => void): Looks {
  const { source, denyRead } = plan;
  const included = meantBy(plan.include);
  const excluded = meantBy(plan.exclude);
  const meant = meantBy(denyRead);
  const shared = denyRead.length === 0 ? NONE_SHARED : sharedFiles(source, meant);
  const isDenied = (key: PathKey, isFolder: boolean): boolean => {
    if (meant(textOf(key), isFolder)) return true;
    const mark = isFolder || shared.size === 0 ? undefined : markOf(source, key);
    return mark !== undefined && shared.has(mark);
  };
  return (key, isFolder) => {
    const path = textOf(key);
    if (nameOf(key) === '.git' || isDenied(key, isFolder) || excluded(path, isFolder)) return false;
    // One that holds what must not be read is copied without that.
    if (isFolder && plan.borrows && BORROWED.has(nameOf(key)) && (denyRead.length === 0 || !holds(source, key, isDenied))) {
      borrow(key);
      return false;
    }
    return isFolder || plan.include.length === 0 || included(path, false);
  };
}

/** Whether one of these patterns means a path. That of a folder may have a slash behind it. */
function meantBy(patterns: readonly string[]): Meant {
  const globs = patterns.map(pathGlob);
  return (path, isFolder) => globs.some((glob) => glob(path) || (isFolder && glob(`${path}/`)));
}

const NONE_SHARED: ReadonlySet<string> = new Set();

/** Whether something below a folder is meant. */
function holds(root: string, folder: PathKey, isMeant: (key: PathKey, isFolder: boolean) => boolean): boolean {
  return entriesIn(root, folder).some((entry) => {
    const key = childOf(folder, entry);
    return isMeant(key, entry.isDirectory()) || (entry.isDirectory() && holds(root, key, isMeant));
  });
}

/** Copies the work once more, for a check that may write as it likes: what is applied stays as the agent left it. Blocks. */
export function copyWork(folder: string, plan: StagePlan): void {
  const base = baseIn(folder);
  const target = join(folder, CHECK_TREE);
  removeTree(target);
  makePlace(folder, CHECK_TREE);
  const borrowed = new Set(base.borrowed);
  copyTree({ source: join(folder, TREE), target, looks: (key) => !borrowed.has(key), limits: plan.limits, owner: plan.owner });
  for (const key of borrowed) mkdirSync(fileOf(target, key), { recursive: true });
  if (plan.owner !== undefined) handOver(target, base.borrowed, false, plan.owner);
}

interface Base {
  readonly borrowed: PathKey[];
  readonly seen: [PathKey, Seen][];
  /** Stages of earlier versions have none. */
  readonly behind?: Behind;
}

function baseIn(folder: string): Base {
  const base = stageRecord<Base>(join(folder, BASE_FILE));
  if (base === undefined) throw new Error('the list of what was copied cannot be read');
  return base;
}

/** A comparison as the receipt tells it. The changes themselves are in their file: there may be a hundred thousand. */
export interface Compared {
  readonly record: ChangeSetRecord;
  readonly delta: WorkspaceDelta;
  readonly patchSha256: string;
}

/** Compares the tree of a stage with what was copied, and writes the change set and the patch. Blocks: run it on a thread. */
export function compareStage(folder: string, plan: StagePlan): Compared {
  const base = baseIn(folder);
  const before = new Map(base.seen);
  const left = new Set([...base.borrowed, '.git']);
  const tree = join(folder, TREE);
  const after = walkTree(tree, (key) => !left.has(key), before, { mostFiles: MOST_COMPARED, opensClosed: true });
  const changes = changesBetween(before, after, deniedBy(base.behind === undefined ? plan : withRules(plan, base.behind)));
  const patch = patchOf(changes, contentsOf(plan.source, tree));
  writeFileSync(join(folder, CHANGES_FILE), JSON.stringify(changes), { mode: 0o600 });
  writeFileSync(join(folder, PATCH_FILE), patch, { mode: 0o600 });
  const patchSha256 = sha256(patch);
  return { record: changeSetRecord(changes, 'staged'), delta: deltaOf(changes, patchSha256), patchSha256 };
}

/** Rules that a change breaks. What was not to be read was not copied: an agent that makes it anew would write over it. */
function deniedBy({ denyRead, denyWrite, exclude }: StagePlan): (path: string) => string | undefined {
  const rules = (
    [
      ['deny_write', denyWrite],
      ['deny_read', denyRead],
      ['exclude', exclude],
    ] as const
  ).flatMap(([name, patterns]) => patterns.map((pattern) => ({ reason: `${name}: ${pattern}`, matches: pathGlob(pattern) })));
  // A rule for a folder is one for what is in it.
  return (path) => rules.find(({ matches }) => pathsAround(path).some((place) => matches(place) || matches(`${place}/`)))?.reason;
}

/** The original's contents are read there, while they are still as they were copied. */
function contentsOf(source: string, tree: string): Contents {
  const read = (root: string, change: Change, node: Change['before']): Buffer | undefined => {
    if (node?.type !== 'file' || node.bytes > LARGEST_SHOWN) return undefined;
    const path = fileOf(root, pathKeyOf(change));
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size !== node.bytes || digestOf(path, stats.size) !== node.sha256) return undefined;
    return readFileSync(path);
  };
  return { before: (change) => read(source, change, change.before), after: (change) => read(tree, change, change.after) };
}
