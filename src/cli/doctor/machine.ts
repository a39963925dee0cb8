import { existsSync, statSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isoTime } from '../../base/clock.ts';
import { type Check, type Finding, fail, ok, warn } from './check.ts';

const MIB = 1024 * 1024;
/** Recorded bodies may take 2 GiB before the oldest are removed. */
const COMFORTABLE_BYTES = 3 * 1024 * MIB;
const LEAST_BYTES = 200 * MIB;
const FIRST_RELEASE = Date.UTC(2026, 0, 1);
const SKEW_MS = 60_000;

export const nodeVersion: Check = { name: 'node', run: () => judgeNode(process.versions.node) };

export function judgeNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return ok(`Node ${version}`);
  return fail(`Node ${version} is too old`, 'Install Node 22.19 or newer, or start abp through npm, which brings one.');
}

export const diskSpace: Check = {
  name: 'disk',
  async run({ home }) {
    const { bavail, bsize } = await statfs(nearestFolder(home));
    return judgeDisk(bavail * bsize);
  },
};

export function judgeDisk(free: number): Finding {
  const message = `${Math.floor(free / MIB)} MiB free where the home is`;
  if (free < LEAST_BYTES) return fail(message, 'Free some space: runs cannot be recorded on a full disk.');
  if (free < COMFORTABLE_BYTES) return warn(message, 'Free some space, or record less: bodies may take 2 GiB.');
  return ok(message);
}

/** The folder itself, or the first of its parents that exists. */
export function nearestFolder(path: string): string {
  const parent = dirname(path);
  return existsSync(path) || parent === path ? path : nearestFolder(parent);
}

export const clockTime: Check = {
  name: 'clock',
  run: async ({ home }) => judgeClock(Date.now(), await newestChange(home)),
};

export function judgeClock(now: number, newest: number): Finding {
  const fix = 'Set the system clock: receipts and run ids carry its time.';
  if (now < FIRST_RELEASE) return fail(`the clock says ${isoTime(now)}, which is before this software existed`, fix);
  if (newest > now + SKEW_MS) return warn(`the clock says ${isoTime(now)}, but a file of the home is from ${isoTime(newest)}`, fix);
  return ok(isoTime(now));
}

/** When a file of the home was last changed. */
export async function newestChange(home: string): Promise<number> {
  const names = statSync(home, { throwIfNoEntry: false })?.isDirectory() ? await readdir(home) : [];
  return Math.max(0, ...(await Promise.all(names.map((name) => changeOf(join(home, name))))));
}

/** A server at work makes and removes files while it is looked at; one that has gone tells nothing. */
async function changeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0;
    throw error;
  }
}
