import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { parseJsonObject } from '../../../base/json.ts';
import { removeTree } from '../../../base/paths/remove-tree.ts';
import { identityOf, isRunning, markedProcesses, type ProcessIdentity, sendSignal } from '../../../base/process-table.ts';
import { AbpError } from '../../../contract/errors.ts';
import { parseRunId, type RunId } from '../../../contract/run-id.ts';
import { RUN_MARK } from './environment.ts';

/**
 * Who runs an agent and as which process, so that a later start can end what a killed one left. Signals are sent by these records, so they
 * lie beside the folders of the runs and not in them: those are the agents' own.
 */
const RECORDS = '.processes';
/** Where the version before kept its record: in the run's own folder. Nobody is signalled by it any more. */
const OLD_RECORD = 'process.json';

/** A folder of one run alone. */
export interface RunFolder {
  readonly path: string;
  /** Writes files of the run, readable by their owner only; paths are relative to the folder. */
  write(files: Readonly<Record<string, string>>): void;
  /** Makes places of the folder links to folders of a home. */
  link(links: Readonly<Record<string, string>> | undefined, env: Readonly<Record<string, string | undefined>>): void;
  /** Remembers the process that leads the agent's group. */
  remember(pid: number): void;
  remove(): void;
}

/** The folder of all runs of a home. */
export function runsFolder(homePath: string): string {
  return join(homePath, 'runs');
}

/** `ownerPid` is the process with whose end the run ends; by default this one. */
export function openRunFolder(runs: string, runId: RunId, ownerPid: number = process.pid): RunFolder {
  const path = join(runs, runId);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const owner = identityOf(ownerPid);
  const record = (known: Partial<ProcessRecord>): void =>
    writeFileSync(placeIn(join(runs, RECORDS), recordName(runId)), JSON.stringify(known), { mode: 0o600 });
  // A folder without an owner would be taken for one that a killed process left.
  record({ owner });
  return {
    path,
    write: (files) => {
      for (const [name, text] of Object.entries(files)) writeInside(path, name, text);
    },
    link: (links = {}, env) => {
      for (const [name, target] of Object.entries(links)) linkInside(path, name, join(env.HOME ?? env.USERPROFILE ?? homedir(), target));
    },
    remember: (pid) => record({ owner, child: identityOf(pid) }),
    remove: () => removeRun(runs, runId),
  };
}

/** Writes a file of a run. Whatever an agent of an earlier try has put there is removed first: a link would lead this process to any file. */
function writeInside(folder: string, name: string, text: string): void {
  const place = placeIn(folder, name);
  removeTree(place);
  writeFileSync(place, text, { mode: 0o600, flag: 'wx' });
}

/** A run that is tried again finds its link. Removing the folder removes the link and nothing behind it. */
function linkInside(folder: string, name: string, target: string): void {
  const place = placeIn(folder, name);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  if (!existsSync(place)) symlinkSync(target, place, 'junction');
}

/** The place of a name in the folder of a run, with real folders on the way to it. No agent is at work there meanwhile. */
export function placeIn(folder: string, name: string): string {
  const place = join(folder, name);
  const way = relative(folder, dirname(place)).split(sep);
  if (way[0] === '..') throw new AbpError('internal', `a file of a run would lie outside its folder: ${name}`);
  let at = folder;
  for (const part of way) {
    at = join(at, part);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) continue;
    if (found !== undefined) rmSync(at);
    mkdirSync(at, { mode: 0o700 });
  }
  return place;
}

/** Ends what is left of a run: its group, and on Linux also what left the group but kept the mark. Nothing of it may live on. */
export function endLeftovers(runId: RunId): number {
  const pids = markedProcesses(RUN_MARK, runId);
  return pids.filter((pid) => sendSignal(pid, 'SIGKILL')).length;
}

/** Ends agents whose backplane is gone and removes their folders; returns the runs that were found. */
export function sweepRuns(runs: string): RunId[] {
  const records = namesIn(join(runs, RECORDS)).map((name) => name.replace(/\.json$/, ''));
  const found = [...namesIn(runs), ...records].map(parseRunId).filter((runId) => runId !== undefined);
  return [...new Set(found)].filter((runId) => sweepRun(runs, runId));
}

function sweepRun(runs: string, runId: RunId): boolean {
  const record = recordOf(join(runs, RECORDS, recordName(runId)));
  const owner = record.owner ?? recordOf(join(runs, runId, OLD_RECORD)).owner;
  if (owner !== undefined && isRunning(owner)) return false;
  if (record.child !== undefined && isRunning(record.child)) sendSignal(-record.child.pid, 'SIGKILL');
  endLeftovers(runId);
  removeRun(runs, runId);
  return true;
}

function removeRun(runs: string, runId: RunId): void {
  removeTree(join(runs, runId));
  rmSync(join(runs, RECORDS, recordName(runId)), { force: true });
}

const recordName = (runId: RunId): string => `${runId}.json`;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

interface ProcessRecord {
  readonly owner: ProcessIdentity | undefined;
  readonly child: ProcessIdentity | undefined;
}

function recordOf(file: string): ProcessRecord {
  const stored = parseJsonObject(textOf(file)) ?? {};
  return { owner: identityIn(stored.owner), child: identityIn(stored.child) };
}

/** Numbers below 2 are no process of ours: minus 1 would be everybody, 1 the system's first. */
function identityIn(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('started' in value)) return undefined;
  const { pid, started } = value;
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 1 && typeof started === 'string' ? { pid, started } : undefined;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A run that was killed before its agent started has no record.
    return '';
  }
}
