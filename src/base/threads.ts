import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * Options for a thread that goes on as its process does. A process that runs a text instead of a file gives it no arguments: those are about
 * that text.
 */
export function threadStart(): { readonly env: NodeJS.ProcessEnv; readonly execArgv?: string[] } {
  return { env: environment(), ...(hasNoFile() && { execArgv: [] }) };
}

/** The same for a thread that works on somebody else's files or code: it gets no variable of the process, so it has none to give away. */
export function bareThreadStart(): { readonly env: NodeJS.ProcessEnv; readonly execArgv: string[] } {
  const cache = compileCacheFolder();
  return { env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }, execArgv: ['--disable-warning=ExperimentalWarning'] };
}

/** A thread does not inherit the compile cache of its process; without it the thread compiles everything again, at each start. */
function environment(): NodeJS.ProcessEnv {
  const cache = compileCacheFolder();
  return cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: cache };
}

/** Where Node keeps what it has compiled; undefined where it keeps nothing. */
export function compileCacheFolder(): string | undefined {
  const folder = getCompileCacheDir();
  // Node appends a folder of its version to the one it is told.
  return folder === undefined ? undefined : dirname(folder);
}

/** Threads inherit the arguments of Node, and refuse to start from a file with this one, which is for a program that is in none. */
function hasNoFile(): boolean {
  return process.execArgv.some((argument) => argument.startsWith('--input-type'));
}
