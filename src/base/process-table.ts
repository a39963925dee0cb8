import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A process that can be told from a later one of the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the words of the system; compared, never read. */
  readonly started: string;
}

/** When the process started; undefined when there is none of this number. */
export function processStart(pid: number): string | undefined {
  return process.platform === 'linux' ? linuxStart(pid) : psStart(pid);
}

export function identityOf(pid: number): ProcessIdentity | undefined {
  const started = processStart(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isRunning({ pid, started }: ProcessIdentity): boolean {
  return processStart(pid) === started;
}

/** Field 22 of `/proc/<pid>/stat` counts clock ticks since the boot. The name in field 2 may hold spaces and brackets. */
function linuxStart(pid: number): string | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields ?? [];
  // A zombie has ended; only its parent has not looked yet.
  return state === undefined || state === 'Z' || state === 'X' ? undefined : fields?.[19];
}

function psStart(pid: number): string | undefined {
  if (process.platform === 'win32') return isAlive(pid) ? 'alive' : undefined;
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const text = stdout?.trim() ?? '';
  return status === 0 && text !== '' ? text : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // There is no such process, or it is somebody else's.
    return false;
  }
}

/** Processes whose environment holds this assignment: what a child started keeps the mark even after it left its group. Linux only. */
export function markedProcesses(variable: string, value: string): number[] {
  if (process.platform !== 'linux') return [];
  const mark = `${variable}=${value}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => textOf(`/proc/${name}/environ`)?.split('\0').includes(mark) === true)
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

/** Undefined for what vanished meanwhile or belongs to another user. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Sends a signal to a process, or to a group by its negative number; false when nobody is there. 0, 1 and -1 are never meant: they are our
 * own group, the system's first process, and everybody.
 */
export function sendSignal(target: number, signal: NodeJS.Signals): boolean {
  if (!Number.isSafeInteger(target) || Math.abs(target) < 2) throw new RangeError(`no signal is sent to process ${target}`);
  try {
    return process.kill(target, signal);
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')) return false;
    throw error;
  }
}
