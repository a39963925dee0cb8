import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ConsoleBuild } from './console-build.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-console-build-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A clone whose bundler is this program. */
function cloneWith(bundler: string): string {
  const root = temporaryFolder();
  mkdirSync(join(root, 'console'));
  mkdirSync(join(root, 'node_modules/vite/bin'), { recursive: true });
  writeFileSync(join(root, 'package-lock.json'), '{}');
  writeFileSync(join(root, 'node_modules/vite/bin/vite.js'), bundler);
  return root;
}

const MAKES_ITS_FOLDER =
  "const fs = require('node:fs'); fs.mkdirSync(process.argv[process.argv.indexOf('--outDir') + 1], { recursive: true });";

it.each([
  [
    'that is stopped with the server says so',
    "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);",
    /was ended by SIGTERM; it begins again with the next start\.$/,
  ],
  ['that fails says what the bundler said', "console.error('no such module'); process.exit(1);", /failed:\nno such module\n$/],
])('a build %s, and leaves nothing half done', async (_, end, message) => {
  const root = cloneWith(`${MAKES_ITS_FOLDER} ${end}`);
  const build = new ConsoleBuild(root, temporaryFolder());
  await expect(build.folder(() => undefined)).rejects.toThrow(message);
  expect(build.state.kind).toBe('failed');
  expect(readdirSync(join(root, 'node_modules/.cache/abp-console'))).toEqual([]);
});

it('a clone that its user may only read is built into the home, once', async () => {
  const root = cloneWith(`${MAKES_ITS_FOLDER} fs.writeFileSync(process.argv[process.argv.indexOf('--outDir') + 1] + '/index.html', '');`);
  // A file in the way stands for missing rights, which root always has.
  writeFileSync(join(root, 'node_modules/.cache'), '');
  const home = temporaryFolder();
  const said: string[] = [];
  const folder = await new ConsoleBuild(root, home).folder((line) => said.push(line));
  expect(folder.startsWith(join(home, 'cache/console'))).toBe(true);
  expect(existsSync(join(folder, 'index.html'))).toBe(true);
  expect(await new ConsoleBuild(root, home).folder((line) => said.push(line))).toBe(folder);
  expect(said).toHaveLength(2);
});
