import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isRunning, type ProcessIdentity } from '../../base/process-table.ts';
import { type Change, pathKeyOf, stageRecord } from './change-set.ts';
import { copyWhole } from './copy-file.ts';
import { childOf, entriesIn, fileOf, lookAt, type PathKey, parentOf, sameNode, seenAt, textOf } from './tree.ts';

/** A path that is not as it was when the work began. */
export interface Conflict {
  readonly path: string;
  readonly reason: string;
}

/** One step of applying. Numbers name what is put aside and what is put in. */
interface Step {
  readonly number: number;
  readonly key: PathKey;
  /** `replace`: a file for a file. The others take away what was there, then make what is new. */
  readonly kind: 'replace' | 'take' | 'leave' | 'make' | 'put';
  /** Of a folder that is made; journals of earlier versions have none. */
  readonly rights?: number;
}

interface Journal {
  readonly root: string;
  /** The folder inside the root that holds what is put in and what is put aside. */
  readonly work: string;
  readonly owner: ProcessIdentity | undefined;
  /** `prepared`: everything new lies ready, and steps may have been taken. `done`: every step has been. */
  readonly state: 'preparing' | 'prepared' | 'done';
  readonly steps: readonly Step[];
}

const JOURNAL_FILE = 'apply.json';

export interface Application {
  /** The stage: its tree has the new contents, its folder gets the journal. */
  readonly stage: string;
  readonly tree: string;
  readonly root: string;
  readonly changes: readonly Change[];
  readonly owner: ProcessIdentity | undefined;
  /** For tests: called before each step; a throw is a fault there. */
  readonly before?: (step: string) => void;
}

/** Conflicts that stand in the way, and the changes that are still to be made. */
export function judgeChanges(root: string, changes: readonly Change[]): { readonly conflicts: Conflict[]; readonly open: Change[] } {
  const conflicts: Conflict[] = [];
  const made = new Set(changes.filter(({ after }) => after?.type === 'folder').map(pathKeyOf));
  const staying = foldersThatStay(root, changes);
  const open = changes.filter((change) => {
    const verdict = staying.has(pathKeyOf(change)) ? verdictOnStaying(change) : verdictOn(root, change, made);
    if (verdict !== 'open' && verdict !== 'nothing to do') conflicts.push({ path: change.path, reason: verdict.conflict });
    return verdict === 'open';
  });
  return { conflicts, open };
}

type Verdict = 'open' | 'nothing to do' | { readonly conflict: string };

function verdictOn(root: string, change: Change, made: ReadonlySet<PathKey>): Verdict {
  const key = pathKeyOf(change);
  const now = seenAt(root, key)?.node;
  if (now === undefined && change.after === null) return 'nothing to do';
  const blocked = blockedAt(root, key, made);
  if (blocked !== undefined) return { conflict: blocked };
  if (sameNode(now, change.after ?? undefined)) return 'nothing to do';
  if (sameNode(now, change.before ?? undefined)) return 'open';
  return { conflict: reasonOf(now === undefined, change.before === null) };
}

/** A folder with files that the run did not see stays with them; where the run has put something else in its place, that is a conflict. */
function verdictOnStaying({ after }: Change): Verdict {
  return after === null ? 'nothing to do' : { conflict: 'it holds files that the run did not see' };
}

/** Folders that shall go and hold something that shall not: a file that was left out of the stage, or one that came meanwhile. */
function foldersThatStay(root: string, changes: readonly Change[]): Set<PathKey> {
  const going = changes.filter(({ before, after }) => before !== null && after?.type !== before.type).map(pathKeyOf);
  const gone = new Set(going);
  const folders = changes.filter(({ before, after }) => before?.type === 'folder' && after?.type !== 'folder').map(pathKeyOf);
  const staying = new Set<PathKey>();
  for (const folder of folders.sort((a, b) => depthOf(b) - depthOf(a))) {
    if (lookAt(fileOf(root, folder))?.isDirectory() !== true) continue;
    const entries = entriesIn(root, folder).map((entry) => childOf(folder, entry));
    if (entries.some((entry) => !gone.has(entry) || staying.has(entry))) staying.add(folder);
  }
  return staying;
}

const depthOf = (key: PathKey): number => key.split('/').length;

function reasonOf(isGone: boolean, wasAbsent: boolean): string {
  if (isGone) return 'it is gone from the workspace';
  return wasAbsent ? 'it has been made in the workspace meanwhile' : 'it has changed in the workspace meanwhile';
}

/** A folder on the way that has become something else would lead the change to another place. */
function blockedAt(root: string, key: PathKey, made: ReadonlySet<PathKey>): string | undefined {
  for (let folder = parentOf(key); folder !== ''; folder = parentOf(folder)) {
    const found = lookAt(fileOf(root, folder));
    if (found?.isDirectory() === true || made.has(folder)) continue;
    return found === undefined ? `its folder ${textOf(folder)} is gone` : `its folder ${textOf(folder)} is no folder any more`;
  }
  return undefined;
}

/** Makes all changes or none. Blocks: run it on a thread. The next apply or the next start undoes what a killed one left. */
export function applyChanges(application: Application): void {
  const { root, stage } = application;
  const work = join(root, `.abp-apply-${randomBytes(6).toString('hex')}`);
  const journal: Journal = { root, work, owner: application.owner, state: 'preparing', steps: stepsOf(application) };
  write(stage, journal);
  try {
    prepare(application, journal);
    write(stage, { ...journal, state: 'prepared' });
    for (const step of journal.steps) {
      application.before?.(`${step.kind} ${textOf(step.key)}`);
      take(journal, step);
    }
    application.before?.('done');
    write(stage, { ...journal, state: 'done' });
  } catch (error) {
    undoApply(stage);
    throw error;
  }
  close(stage, work);
}

/** Old things go deepest first, new ones come shallowest first. */
function stepsOf({ tree, changes }: Pick<Application, 'tree' | 'changes'>): Step[] {
  const numbered = changes.map((change, number) => ({ change, number, key: pathKeyOf(change) }));
  const isReplaced = ({ before, after }: Change): boolean => before?.type === 'file' && after?.type === 'file';
  const away = numbered
    .filter(({ change }) => change.before !== null && !isReplaced(change))
    .sort((a, b) => depthOf(b.key) - depthOf(a.key))
    .map(({ change, number, key }): Step => ({ number, key, kind: change.before?.type === 'folder' ? 'leave' : 'take' }));
  const come = numbered
    .filter(({ change }) => change.after !== null)
    .sort((a, b) => depthOf(a.key) - depthOf(b.key))
    .map(({ change, number, key }): Step => {
      if (isReplaced(change)) return { number, key, kind: 'replace' };
      if (change.after?.type !== 'folder') return { number, key, kind: 'put' };
      return { number, key, kind: 'make', rights: 0o700 | (0o755 & (lookAt(fileOf(tree, key))?.mode ?? 0)) };
    });
  return [...away, ...come];
}

const newAt = (work: string, number: number): string => join(work, 'new', String(number));
const oldAt = (work: string, number: number): string => join(work, 'old', String(number));

/** Puts everything new beside its place, in the same file system, with the rights and the owner it shall have. */
function prepare({ tree, root, changes, before }: Application, { work }: Journal): void {
  for (const folder of [work, join(work, 'new'), join(work, 'old')]) mkdirSync(folder, { mode: 0o700 });
  const { uid, gid } = statSync(root);
  const isRoot = process.getuid?.() === 0;
  for (const [number, change] of changes.entries()) {
    const place = newAt(work, number);
    before?.(`prepare ${change.path}`);
    if (change.after?.type === 'link') symlinkSync(Buffer.from(change.after.target, 'latin1'), place);
    if (change.after?.type !== 'file') continue;
    const key = pathKeyOf(change);
    const kept = lookAt(fileOf(root, key));
    const made = fileOf(tree, key);
    const stats = lstatSync(made);
    // A new file is no more open to others than the agent has left it.
    const rights = kept?.isFile() === true ? kept.mode & 0o777 : 0o600 | (0o644 & stats.mode);
    copyWhole(made, place, stats, change.after.executable ? rights | ((rights & 0o444) >> 2) : rights & ~0o111);
    if (isRoot) chownSync(place, kept?.uid ?? uid, kept?.gid ?? gid);
  }
}

function take({ root, work }: Journal, { kind, key, number, rights = 0o755 }: Step): void {
  const path = fileOf(root, key);
  const { uid, gid } = statSync(root);
  switch (kind) {
    case 'take':
      renameSync(path, oldAt(work, number));
      break;
    case 'leave':
      leaveFolder(path, oldAt(work, number));
      break;
    case 'make':
      mkdirSync(path, { mode: rights });
      if (process.getuid?.() === 0) chownSync(path, uid, gid);
      break;
    case 'put':
      // Nothing may be there: a rename would replace it.
      if (lookAt(path) !== undefined) throw new Error(`${textOf(key)} has been made meanwhile`);
      renameSync(newAt(work, number), path);
      break;
    case 'replace':
      linkSync(path, oldAt(work, number));
      renameSync(newAt(work, number), path);
      break;
  }
}

/** Puts an empty folder aside as it is, so that it can come back with its rights and its owner. */
function leaveFolder(path: Buffer, aside: string): void {
  renameSync(path, aside);
  if (readdirSync(aside).length === 0) return;
  renameSync(aside, path);
  throw new Error(`something has been put into ${path.toString()} meanwhile`);
}

/** Takes back what an application did, as far as it came; one that was done is only tidied up. Whether there was one. */
export function undoApply(stage: string): boolean {
  const journal = read(stage);
  if (journal === undefined) return false;
  const { root, work, state, steps } = journal;
  if (state === 'prepared') for (const step of [...steps].reverse()) takeBack(root, work, step);
  close(stage, work);
  return true;
}

/** The places of the files tell whether a step was taken. */
function takeBack(root: string, work: string, { kind, key, number }: Step): void {
  const path = fileOf(root, key);
  const there = lookAt(path);
  const [isNewLeft, isOldKept] = [exists(newAt(work, number)), exists(oldAt(work, number))];
  switch (kind) {
    case 'take':
      if (isOldKept && there === undefined) renameSync(oldAt(work, number), path);
      break;
    case 'leave':
      if (there !== undefined) break;
      if (isOldKept) renameSync(oldAt(work, number), path);
      // Version 0.1.0 removed folders instead of putting them aside.
      else mkdirSync(path);
      break;
    case 'make':
      if (there?.isDirectory() === true) removeEmpty(path);
      break;
    case 'put':
      if (!isNewLeft && there !== undefined) unlinkSync(path);
      break;
    case 'replace':
      if (isOldKept && !isNewLeft) renameSync(oldAt(work, number), path);
      break;
  }
}

/** A folder that somebody else has put something into stays. */
function removeEmpty(path: Buffer): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST'))) throw error;
  }
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function close(stage: string, work: string): void {
  rmSync(work, { recursive: true, force: true });
  rmSync(join(stage, JOURNAL_FILE), { force: true });
}

/** Undoes an application whose process is gone. Throws while it is still under way. */
export function undoAbandoned(stage: string): boolean {
  const owner = read(stage)?.owner;
  if (owner !== undefined && isRunning(owner)) return false;
  return undoApply(stage);
}

function read(stage: string): Journal | undefined {
  const file = join(stage, JOURNAL_FILE);
  return stageRecord<Journal>(file);
}

/** Whole or not at all, and on the disk before the next step. */
function write(stage: string, journal: Journal): void {
  const [file, draft] = [join(stage, JOURNAL_FILE), join(stage, `${JOURNAL_FILE}.new`)];
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    writeSync(descriptor, JSON.stringify(journal));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
}
