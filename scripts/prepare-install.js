// Runs after `npm ci` in a clone (`prepare`): removes what nobody here reads, and lets the packages that every start loads come in few files.
// Plain JavaScript, because it also runs on the machine's own Node when that one is old.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url));

/**
 * Packages of very many small modules. A gateway loads Kysely's 257 in each of two threads and Zod's 95 in one; read as one file they cost
 * 14 ms of a core instead of 95, which every start and every test that starts a gateway would otherwise pay.
 */
const MANY_MODULES = ['kysely', 'zod'];

/** The package `node` brings C++ headers along, 67 MB that nobody compiles against. */
function removeHeaders() {
  const node = `${modules}node/node_modules/`;
  for (const name of existsSync(node) ? readdirSync(node) : []) {
    if (!name.startsWith('node-')) continue;
    for (const part of ['include', 'share']) rmSync(`${node}${name}/${part}`, { recursive: true, force: true });
  }
}

/** Source maps of installed packages are 50 MB that nobody steps through. */
function removeSourceMaps(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeSourceMaps(`${folder}${entry.name}/`);
    else if (entry.isFile() && entry.name.endsWith('.map')) rmSync(`${folder}${entry.name}`, { force: true });
  }
}

/** The modules that a package's `exports` name: what others may import from it. */
function entriesOf(folder) {
  const { exports } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  const files = Object.values(exports).map((target) => (typeof target === 'string' ? target : (target.import ?? target.default)));
  return files.filter((file) => file.endsWith('.js') && !file.includes('*'));
}

/** Each entry of a package keeps its place and its exports; the modules behind them move into chunks that the entries share. */
async function joinModules(name) {
  const folder = `${modules}${name}/`;
  if (readdirSync(folder).some((file) => file.startsWith('joined-'))) return;
  const { rolldown } = await import('rolldown');
  const entries = entriesOf(folder).map((file) => [file.slice('./'.length, -'.js'.length), `${folder}${file}`]);
  // Nothing is left out: a module that only sets something up, such as Zod's language of messages, has no export that anybody names.
  const bundle = await rolldown({
    input: Object.fromEntries(entries),
    treeshake: false,
    external: (id) => !id.startsWith('.') && !id.startsWith(folder),
  });
  const { output } = await bundle.generate({ dir: folder, entryFileNames: '[name].js', chunkFileNames: 'joined-[hash].js' });
  await bundle.close();
  // A chunk goes first, so that no entry ever names one that is not there. A rename replaces the file for this clone alone where the package
  // is linked to another's.
  for (const { fileName, code } of output.toSorted((one, other) => Number(one.isEntry) - Number(other.isEntry))) {
    writeFileSync(`${folder}${fileName}.new`, code);
    renameSync(`${folder}${fileName}.new`, `${folder}${fileName}`);
  }
}

removeHeaders();
if (existsSync(modules)) removeSourceMaps(modules);
for (const name of MANY_MODULES) {
  try {
    await joinModules(name);
  } catch (error) {
    // Without the bundler (an installation without development dependencies) or on an old Node, packages stay as they came: slower, not wrong.
    console.error(`${name} stays in ${relative(process.cwd(), `${modules}${name}`)} as many modules: ${error.message}`);
  }
}
