#!/usr/bin/env node
// The entry of the `abp` command. Plain JavaScript on purpose: it must be able to say what is wrong on a Node that cannot run the rest.
import { existsSync } from 'node:fs';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `abp needs Node 22.19 or newer, this is ${process.versions.node}.\nhint: Install a newer one (nvm install 24, or nodejs.org); for one call, npx -y -p node@24 abp … uses it without installing. In a clone of the repository, npm start finds the bundled one.\n`,
  );
  process.exit(2);
}
await import('./compile-cache.js');
const built = new URL('../dist/cli/main.js', import.meta.url);
const source = new URL('../src/cli/main.ts', import.meta.url);
const { main } = await import((existsSync(source) ? source : built).href);
process.exitCode = await main(process.argv.slice(2));
