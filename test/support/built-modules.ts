import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ownModule as sourceModule } from '../../src/base/own-files.ts';

export { ownFile, packageVersion, RUNS_FROM_SOURCES } from '../../src/base/own-files.ts';

const build = process.env.ABP_TEST_BUILD;

/**
 * Threads that a suite starts load the modules of the build, as they do in the package: each of the many gateways of a suite has a keeper,
 * which takes twice as long to load from the sources.
 */
export function ownModule(path: string): URL {
  const built = pathToFileURL(`${build}/dist/${path}.js`);
  return build !== undefined && existsSync(built) ? built : sourceModule(path);
}
