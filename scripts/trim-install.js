// Runs after `npm ci` in a clone (`prepare`). The package `node` brings the C++ headers of Node along, 67 MB that nobody here compiles against.
// Plain JavaScript, because it also runs on the machine's own Node when that one is old.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../node_modules/node/node_modules/', import.meta.url));
const folders = existsSync(packages) ? readdirSync(packages) : [];
for (const name of folders.filter((folder) => folder.startsWith('node-'))) {
  for (const part of ['include', 'share']) rmSync(`${packages}${name}/${part}`, { recursive: true, force: true });
}
