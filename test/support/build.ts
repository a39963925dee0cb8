import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildProgram } from '../../scripts/build.ts';
import { openSqlite } from '../../src/store/databases/sqlite.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const builds = join(root, 'node_modules/.cache/builds');

/**
 * Builds the program as the package has it, before the first test: commands and servers that tests start as processes of their own run what
 * users run, and start in two thirds of the time. It is used again while no source changes, this one among them.
 */
export async function setup(): Promise<void> {
  const folder = join(builds, sourceState());
  if (!existsSync(folder)) {
    const fresh = `${folder}.${process.pid}`;
    await buildProgram(join(fresh, 'dist'));
    cpSync(join(root, 'bin'), join(fresh, 'bin'), { recursive: true });
    cpSync(join(root, 'package.json'), join(fresh, 'package.json'));
    await makeTables(join(fresh, 'ready.db'));
    keep(fresh, folder);
  }
  process.env.ABP_TEST_BUILD = folder;
}

/** The file that new homes of tests begin with; see `ready-home.ts`. */
async function makeTables(file: string): Promise<void> {
  const store = await openSqlite(file);
  await store.close();
}

/** Another run of the tests may have come first with the same build. Builds of other states of the sources are removed, the newest aside, which may be in use. */
function keep(fresh: string, folder: string): void {
  if (existsSync(folder)) rmSync(fresh, { recursive: true, force: true });
  else renameSync(fresh, folder);
  const others = readdirSync(builds).filter((name) => /^\w+$/.test(name) && name !== basename(folder));
  const byAge = others.toSorted((one, other) => statSync(join(builds, other)).mtimeMs - statSync(join(builds, one)).mtimeMs);
  for (const name of byAge.slice(1)) rmSync(join(builds, name), { recursive: true, force: true });
}

function sourceState(): string {
  mkdirSync(builds, { recursive: true });
  const state = createHash('sha256');
  for (const path of ['package.json', ...globSync(['{src,bin,scripts}/**/*.{ts,js}', 'test/support/build.ts'], { cwd: root }).sort()]) {
    const { mtimeMs, size } = statSync(join(root, path));
    state.update(`${path} ${mtimeMs} ${size}\n`);
  }
  return state.digest('hex').slice(0, 16);
}
