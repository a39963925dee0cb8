import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AbpError } from '../../contract/errors.ts';

/** Whose disk a stage takes, and how much all stages of the home may take together. */
export interface DiskShare {
  readonly caller: string;
  readonly limitBytes: number;
}

/** The most that one stage may take: its caller's share, and a limit of its run. */
export interface DiskBounds {
  readonly share?: DiskShare | undefined;
  readonly mostBytes?: number | undefined;
}

/** The bound that a stage has outgrown. */
export type Beyond = 'share' | 'limit';

/** A stage as far as its disk is concerned. */
export interface StageDisk {
  readonly folder: string;
  readonly caller: string;
  readonly bytes: number;
  readonly createdAt: number;
  /** Nobody works in it: it waits to be applied, or was. */
  readonly idle: boolean;
}

/** One caller may have three times what is left, as with everything that callers share. */
const SHARE = 3;

/** As much as a stage of this caller may take, beside `others`: its own oldest idle stages would make room for it. */
export function mostFor({ caller, limitBytes }: DiskShare, others: readonly StageDisk[]): number {
  const kept = others.filter((stage) => stage.caller !== caller || !stage.idle);
  return Math.max(0, room({ caller, limitBytes }, kept));
}

/** The largest amount with which the caller holds at most three times what is left. */
function room({ caller, limitBytes }: DiskShare, stages: readonly StageDisk[]): number {
  const held = sum(stages);
  const own = sum(stages.filter((stage) => stage.caller === caller));
  return Math.floor((SHARE * (limitBytes - held) - own) / (SHARE + 1));
}

const sum = (stages: readonly StageDisk[]): number => stages.reduce((total, { bytes }) => total + bytes, 0);

/** Idle stages of the caller, the oldest first, that must go until a stage of so many bytes fits its share. */
export function stagesInTheWay(share: DiskShare, others: readonly StageDisk[], bytes: number): StageDisk[] {
  let left = others;
  const going: StageDisk[] = [];
  const removable = others.filter(({ caller, idle }) => caller === share.caller && idle).toSorted((a, b) => a.createdAt - b.createdAt);
  for (const stage of removable) {
    if (room(share, left) >= bytes) break;
    going.push(stage);
    left = left.filter((one) => one !== stage);
  }
  return going;
}

export function noRoom({ limitBytes }: DiskShare, most: number): AbpError {
  return new AbpError(
    'overloaded',
    `The staged workspaces of this caller take up its share of the disk: ${mebibytes(most)} of ${mebibytes(limitBytes)} MiB are left for this run (limits.stages_mb).`,
    { limit_bytes: limitBytes, left_bytes: most },
    'Wait until other runs have ended, leave parts of the folder out with exclude, or ask the operator for more.',
  );
}

const mebibytes = (bytes: number): number => Math.floor(bytes / 1024 / 1024);

/** Folders of stages, whatever state they are in. */
export function stageFolders(stages: string): string[] {
  return existsSync(stages) ? readdirSync(stages).map((name) => join(stages, name)) : [];
}
