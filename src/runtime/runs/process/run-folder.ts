import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseJsonObject } from '../../../base/json.ts';
import { identityOf, isRunning, markedProcesses, type ProcessIdentity, sendSignal } from '../../../base/process-table.ts';
import { AbpError } from '../../../contract/errors.ts';
import { parseRunId, type RunId } from '../../../contract/run-id.ts';
import { RUN_MARK } from './environment.ts';

/** Who runs an agent and as which process; kept beside the run's files so that a later start can end what a killed one left. */
const RECORD = 'process.json';
const DRAIN_TRIES = 3;

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
  // A folder without an owner would be taken for one that a killed process left.
  writeInside(path, RECORD, JSON.stringify({ owner }));
  return {
    path,
    write: (files) => {
      for (const [name, text] of Object.entries(files)) writeInside(path, name, text);
    },
    link: (links = {}, env) => {
      for (const [name, target] of Object.entries(links)) linkInside(path, name, join(env.HOME ?? env.USERPROFILE ?? homedir(), target));
    },
    remember: (pid) => writeInside(path, RECORD, JSON.stringify({ owner, child: identityOf(pid) })),
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: DRAIN_TRIES }),
  };
}

function writeInside(folder: string, name: string, text: string): void {
  writeFileSync(placeIn(folder, name), text, { mode: 0o600 });
}

/** A run that is tried again finds its link. Removing the folder removes the link and nothing behind it. */
function linkInside(folder: string, name: string, target: string): void {
  const place = placeIn(folder, name);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  if (!existsSync(place)) symlinkSync(target, place, 'junction');
}

function placeIn(folder: string, name: string): string {
  const place = join(folder, name);
  if (relative(folder, place).startsWith('..')) throw new AbpError('internal', `a file of a run would lie outside its folder: ${name}`);
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  return place;
}

/** Ends what is left of a run: its group, and on Linux also what left the group but kept the mark. Nothing of it may live on. */
export function endLeftovers(runId: RunId): number {
  const pids = markedProcesses(RUN_MARK, runId);
  return pids.filter((pid) => sendSignal(pid, 'SIGKILL')).length;
}

/** Ends agents whose backplane is gone and removes their folders; returns the runs that were found. */
export function sweepRuns(runs: string): RunId[] {
  const swept: RunId[] = [];
  for (const name of foldersIn(runs)) {
    const runId = parseRunId(name);
    if (runId === undefined) continue;
    const record = recordOf(join(runs, name));
    if (record.owner !== undefined && isRunning(record.owner)) continue;
    if (record.child !== undefined && isRunning(record.child)) sendSignal(-record.child.pid, 'SIGKILL');
    endLeftovers(runId);
    rmSync(join(runs, name), { recursive: true, force: true, maxRetries: DRAIN_TRIES });
    swept.push(runId);
  }
  return swept;
}

function foldersIn(runs: string): string[] {
  try {
    return readdirSync(runs);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

interface ProcessRecord {
  readonly owner: ProcessIdentity | undefined;
  readonly child: ProcessIdentity | undefined;
}

function recordOf(folder: string): ProcessRecord {
  const stored = parseJsonObject(textOf(join(folder, RECORD))) ?? {};
  return { owner: identityIn(stored.owner), child: identityIn(stored.child) };
}

function identityIn(value: unknown): ProcessIdentity | undefined {
  if (typeof value !== 'object' || value === null || !('pid' in value) || !('started' in value)) return undefined;
  return typeof value.pid === 'number' && typeof value.started === 'string' ? { pid: value.pid, started: value.started } : undefined;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A run that was killed before its agent started has no record.
    return '';
  }
}
