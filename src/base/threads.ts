import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Address of a sibling module for `new Worker` and `import()`: the source ends in .ts, the build in .js. */
export function siblingModule(importMetaUrl: string, name: string): URL {
  return new URL(`${name}${importMetaUrl.endsWith('.ts') ? '.ts' : '.js'}`, importMetaUrl);
}

/** What a thread is started with, so that it goes on as its process does. */
export function threadStart(): { readonly env: NodeJS.ProcessEnv; readonly execArgv?: string[] } {
  return { env: environment(), ...(hasNoFile() && { execArgv: [] }) };
}

/** A thread does not inherit the compile cache of its process; without it the thread compiles everything again, at each start. */
function environment(): NodeJS.ProcessEnv {
  const cache = getCompileCacheDir();
  // Node appends a folder of its version to the one it is told.
  return cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(cache) };
}

/** Threads inherit the arguments of Node, and refuse to start from a file with this one, which is for a program that is in none. */
function hasNoFile(): boolean {
  return process.execArgv.some((argument) => argument.startsWith('--input-type'));
}
