import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
/** Address of a sibling module for `new Worker` and `import()`: the source ends in .ts, the build in .js. */
export function siblingModule(importMetaUrl: string, name: string): URL {
  return new URL(`${name}${importMetaUrl.endsWith('.ts') ? '.ts' : '.js'}`, importMetaUrl);
}

/** A thread does not inherit the compile cache of its process; without it the thread compiles everything again, at each start. */
export function threadEnvironment(): NodeJS.ProcessEnv {
  const cache = getCompileCacheDir();
  // Node appends a folder of its version to the one it is told.
  return cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(cache) };
}
