import { spawn } from 'node:child_process';

/**
 * Waits for the target's id, then for a word. A word means that the work is done; the end of the input without one means that the process that
 * held the other end of the pipe is gone, however it ended. A stopped process gets its signal only after it goes on.
 */
const SCRIPT = `trap '' HUP INT TERM
read -r target || exit 0
read -r word && exit 0
kill -s TERM -- "$target" 2>/dev/null || exit 0
kill -s CONT -- "$target" 2>/dev/null
sleep 1
kill -s KILL -- "$target" 2>/dev/null`;

/** Ends processes when this one ends, also when it is killed and can do nothing any more. */
export interface ProcessGuard {
  /** A process id, or minus the id of a process group. */
  watch(target: number): void;
  /** There is nothing left to end. */
  release(): void;
}

const NO_GUARD: ProcessGuard = { watch: () => undefined, release: () => undefined };

/**
 * Starts a small shell that holds one end of a pipe whose other end is ours alone. Start it before the process that it watches, so that
 * nothing but one write stands between the two. Windows has no such shell; there only an orderly end takes the children along.
 */
export function startGuard(): ProcessGuard {
  if (process.platform === 'win32') return NO_GUARD;
  const child = spawn('/bin/sh', ['-c', SCRIPT], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
  });
  // Without a guard the run is still right; only a kill of this very process would leave it behind.
  child.on('error', () => undefined);
  const { stdin } = child;
  stdin.on('error', () => undefined);
  child.unref();
  // A pipe of a child is a socket; without this it would hold the event loop open.
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  return {
    watch: (target) => void stdin.write(`${target}\n`),
    release: () => void stdin.end('done\n'),
  };
}
