import { mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../../base/canonical-json.ts';
import { identityOf, isRunning, type ProcessIdentity } from '../../base/process-table.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Artifact } from '../../contract/receipts/parts.ts';
import type { RunId } from '../../contract/run-id.ts';
import { type ServerLock, tryFileLock } from '../../home/server-lock.ts';
import { type Conflict, undoAbandoned } from './apply-work.ts';
import { CHANGES_FILE, CHECK_LOG, CHECK_TREE, type Change, type ChangeSet, PATCH_FILE, stageRecord, TREE } from './change-set.ts';
import { chooseChanges } from './chosen-changes.ts';
import {
  type Beyond,
  type DiskBounds,
  type DiskShare,
  mostFor,
  noRoom,
  type StageDisk,
  stageFolders,
  stagesInTheWay,
} from './disk-share.ts';
import type { Compared, Staged, StagePlan } from './stage-work.ts';
import { onThread } from './thread-work.ts';

/** The folder of all stages of a home. */
export function stagesFolder(homePath: string): string {
  return join(homePath, 'stages');
}

export const STAGE_LIMITS = { files: 200_000, bytes: 4 * 1024 ** 3 };

/** Stages that nobody asked for any more are removed after this long, and the oldest before that where they take too much space. */
export interface StageKeeping {
  readonly keepMs: number;
  readonly maxBytes: number;
}

const DAY_MS = 24 * 3600 * 1000;
const STAGE_KEEPING: StageKeeping = { keepMs: 14 * DAY_MS, maxBytes: 10 * 1024 ** 3 };

interface StageRecord {
  readonly run: RunId;
  readonly plan: StagePlan;
  readonly owner: ProcessIdentity | undefined;
  readonly createdAt: number;
  /** `open`: an agent works in it, or was killed. */
  readonly state: 'staging' | 'open' | 'finished' | 'applied';
  readonly staged?: Staged;
  /** Whose share of the disk it takes; absent in stages of earlier versions. */
  readonly caller?: string;
  /** Its size when it was last measured. */
  readonly measured?: number;
  readonly patchSha256?: string;
}

const RECORD_FILE = 'stage.json';

/** A staged copy of a workspace. The original is never written but by `apply`. */
export class Stage {
  readonly folder: string;
  #record: StageRecord;

  private constructor(folder: string, record: StageRecord) {
    this.folder = folder;
    this.#record = record;
  }

  /** Makes the copy. One that a killed process began is nobody's, and is removed by `tidyStages`. */
  static async make(stages: string, run: RunId, plan: StagePlan, share: DiskShare = UNSHARED): Promise<Stage> {
    const source = realpathSync(plan.source);
    if (dirname(source) === source) {
      throw new AbpError('invalid_request', `The workspace could not be staged: ${source} is the whole machine. Name a folder in it.`);
    }
    const folder = join(stages, run);
    const most = mostFor(share, disksIn(stages));
    if (most === 0) throw noRoom(share, most);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const record: StageRecord = {
      run,
      plan: { ...plan, source },
      owner: identityOf(process.pid),
      createdAt: Date.now(),
      state: 'staging',
      caller: share.caller,
    };
    const stage = new Stage(folder, record);
    stage.#write(record);
    try {
      const limits = { ...plan.limits, bytes: Math.min(plan.limits.bytes, most) };
      const { staged } = await onThread({ kind: 'make', folder, plan: { ...record.plan, limits } }, 'made');
      const others = disksIn(stages).filter((other) => other.folder !== folder);
      for (const other of stagesInTheWay(share, others, staged.bytes)) await removeStage(other.folder);
      stage.#write({ ...record, state: 'open', staged });
      return stage;
    } catch (error) {
      await stage.remove();
      const byShare = AbpError.is(error) && error.details.too_large === true && most < plan.limits.bytes;
      throw byShare ? noRoom(share, most) : error;
    }
  }

  /** The stage of an earlier run; undefined when there is none that could be applied. */
  static open(stages: string, run: RunId): Stage | undefined {
    const folder = join(stages, run);
    const record = recordIn(folder);
    return record === undefined || record.state === 'staging' ? undefined : new Stage(folder, record);
  }

  /** Where the copy is. */
  get tree(): string {
    return join(this.folder, TREE);
  }

  /** The folder that was copied. */
  get source(): string {
    return this.#record.plan.source;
  }

  get staged(): Staged {
    return this.#record.staged ?? { files: 0, bytes: 0, borrowed: [], history: null };
  }

  get state(): StageRecord['state'] {
    return this.#record.state;
  }

  get patchFile(): string {
    return join(this.folder, PATCH_FILE);
  }

  get checkLogFile(): string {
    return join(this.folder, CHECK_LOG);
  }

  /** The changes of the run. Compared once; the answer is kept. */
  async changes(): Promise<ChangeSet> {
    const { state, patchSha256 } = this.#record;
    const kept = state !== 'open' && patchSha256 !== undefined ? this.#keptChanges() : undefined;
    if (kept !== undefined) return kept;
    // There are none yet, or their file is torn and made anew.
    if (isAtWork(this.#record) && this.#record.owner?.pid !== process.pid)
      throw new AbpError('conflict', `${this.#record.run} is still at work in its stage.`);
    await this.finish();
    const made = this.#keptChanges();
    if (made === undefined) throw new AbpError('internal', `the changes of ${this.#record.run} cannot be read`);
    return made;
  }

  #keptChanges(): ChangeSet | undefined {
    return stageRecord<ChangeSet>(join(this.folder, CHANGES_FILE));
  }

  /** The bound that the work of the agent has outgrown; undefined while it fits. */
  async beyond({ share, mostBytes }: DiskBounds): Promise<Beyond | undefined> {
    const { bytes: measured } = await onThread({ kind: 'measure', folder: this.folder }, 'measured');
    if (measured > this.staged.bytes) this.#write({ ...this.#record, measured });
    if (mostBytes !== undefined && measured > mostBytes) return 'limit';
    if (share === undefined) return undefined;
    const others = disksIn(dirname(this.folder)).filter(({ folder }) => folder !== this.folder);
    return measured <= mostFor(share, others) ? undefined : 'share';
  }

  /** The agent has ended: compares, and keeps the change set and the patch. */
  async finish(): Promise<Compared> {
    const { record, delta, patchSha256 } = await onThread({ kind: 'compare', folder: this.folder, plan: this.#record.plan }, 'compared');
    this.#write({ ...this.#record, state: 'finished', patchSha256 });
    return { record, delta, patchSha256 };
  }

  /** A copy of the work for a check, and how it is removed. */
  async copyForCheck(): Promise<{ readonly tree: string; remove(): Promise<void> }> {
    await onThread({ kind: 'copy', folder: this.folder, plan: this.#record.plan }, 'copied');
    const tree = join(this.folder, CHECK_TREE);
    return { tree, remove: () => removed(tree) };
  }

  /** Keeps what a check said; its name and digest for the receipt. */
  keepCheckLog(text: string): Artifact {
    writeFileSync(join(this.folder, CHECK_LOG), text, { mode: 0o600 });
    return { kind: 'log', path: CHECK_LOG, sha256: sha256(text) };
  }

  /** Brings the changes into the original, all or none. `isAsked` says which paths, of those that are held back, somebody asked for. */
  async apply(isAsked: (path: string) => boolean = () => false): Promise<Applied> {
    const lock = await applyLock(dirname(this.folder));
    try {
      return await this.#apply(isAsked);
    } finally {
      lock.release();
    }
  }

  async #apply(isAsked: (path: string) => boolean): Promise<Applied> {
    undoAbandoned(this.folder);
    const changes = await this.changes();
    const { chosen, held } = chooseChanges(changes, isAsked);
    const { conflicts, applied } = await onThread(
      {
        kind: 'apply',
        stage: this.folder,
        tree: this.tree,
        root: this.source,
        changes: chosen,
        owner: identityOf(process.pid),
        onlyJudge: false,
      },
      'applied',
    );
    if (conflicts.length === 0) this.#write({ ...this.#record, state: 'applied' });
    return { conflicts, applied: conflicts.length > 0 ? 0 : applied, held };
  }

  async remove(): Promise<void> {
    await removeStage(this.folder);
  }

  #write(record: StageRecord): void {
    this.#record = record;
    const file = join(this.folder, RECORD_FILE);
    writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
}

/** Removes the record before the rest: nobody opens a stage without one, and the next tidying removes what a killed process leaves. */
async function removeStage(folder: string): Promise<void> {
  rmSync(join(folder, RECORD_FILE), { force: true });
  await removed(folder);
}

async function removed(folder: string): Promise<void> {
  await onThread({ kind: 'remove', folder }, 'removed');
}

const LOCK_FILE = 'applying.lock';
const LONGEST_WAIT_MS = 60_000;
const LOOK_MS = 25;

/**
 * Stages of a home are applied one after another. Two processes would write one journal for the same stage, and two stages of one folder
 * would each judge it before the other changes it.
 */
async function applyLock(stages: string): Promise<ServerLock> {
  const until = performance.now() + LONGEST_WAIT_MS;
  for (;;) {
    const lock = tryApplyLock(stages);
    if (lock !== undefined) return lock;
    if (performance.now() > until) throw new AbpError('conflict', 'Another process is applying a run of this home.');
    await sleep(LOOK_MS);
  }
}

const tryApplyLock = (stages: string): ServerLock | undefined => tryFileLock(join(dirname(stages), LOCK_FILE));

/** The outcome of applying. With conflicts nothing was changed. */
export interface Applied {
  readonly conflicts: readonly Conflict[];
  /** How many changes were made, without the folders that come and go with what is in them. */
  readonly applied: number;
  /** Changes that were not applied because nobody asked for them, counted in the same way. */
  readonly held: readonly Change[];
}

function recordIn(folder: string): StageRecord | undefined {
  return stageRecord<StageRecord>(join(folder, RECORD_FILE));
}

/** For one who has a home to itself. */
const UNSHARED: DiskShare = { caller: 'local', limitBytes: Number.MAX_SAFE_INTEGER };

/** The disk that the stages of a home take, by their records. */
function disksIn(stages: string): StageDisk[] {
  return stageFolders(stages).flatMap((folder) => {
    const record = recordIn(folder);
    if (record === undefined) return [];
    const { caller = UNSHARED.caller, createdAt, staged, measured } = record;
    return [{ folder, caller, createdAt, bytes: Math.max(staged?.bytes ?? 0, measured ?? 0), idle: !isAtWork(record) }];
  });
}

/** What tidying up has done at once, and what it goes on with. */
export interface Tidied {
  /** The runs whose original was restored. */
  readonly restored: readonly string[];
  /** Large stages take long to be removed, and nobody needs to wait for it. */
  readonly removal: Promise<void>;
}

/** Undoes what killed processes had begun to apply, and removes stages by age and space. */
export function tidyStages(stages: string, keeping: StageKeeping = STAGE_KEEPING, now: number = Date.now()): Tidied {
  const folders = stageFolders(stages);
  // A process that applies something at this moment takes back what it finds, and needs its stage.
  const lock = folders.length === 0 ? undefined : tryApplyLock(stages);
  if (lock === undefined) return { restored: [], removal: Promise.resolve() };
  const restored = folders.filter((folder) => undoAbandoned(folder)).map((folder) => basename(folder));
  lock.release();
  const idle = folders.flatMap((folder) => {
    const record = recordIn(folder);
    return record !== undefined && isAtWork(record) ? [] : [{ folder, record }];
  });
  let bytes = 0;
  const going: string[] = [];
  for (const { folder, record } of idle.sort((a, b) => (b.record?.createdAt ?? 0) - (a.record?.createdAt ?? 0))) {
    bytes += Math.max(record?.staged?.bytes ?? 0, record?.measured ?? 0);
    const isUseless = record === undefined || record.state === 'staging' || now - record.createdAt > keeping.keepMs;
    if (isUseless || bytes > keeping.maxBytes) going.push(folder);
  }
  return { restored, removal: removeAll(going) };
}

async function removeAll(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await removeStage(folder);
}

/** Whether its process is still there, and not done with it. */
function isAtWork({ owner, state }: StageRecord): boolean {
  return (state === 'staging' || state === 'open') && owner !== undefined && isRunning(owner);
}
