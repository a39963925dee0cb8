// Runs after `npm ci` in a clone (`prepare`) and removes what nobody here reads: the C++ headers that the package `node` brings along, 67 MB
// that nobody compiles against, and the source maps of installed packages, 50 MB that nobody steps through.
// Plain JavaScript, because it also runs on the machine's own Node when that one is old.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url));

const node = `${modules}node/node_modules/`;
for (const name of existsSync(node) ? readdirSync(node) : []) {
  if (!name.startsWith('node-')) continue;
  for (const part of ['include', 'share']) rmSync(`${node}${name}/${part}`, { recursive: true, force: true });
}

function removeSourceMaps(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeSourceMaps(`${folder}${entry.name}/`);
    else if (entry.isFile() && entry.name.endsWith('.map')) rmSync(`${folder}${entry.name}`, { force: true });
  }
}
if (existsSync(modules)) removeSourceMaps(modules);
