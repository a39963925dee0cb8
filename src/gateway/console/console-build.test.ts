import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ConsoleBuild } from './console-build.ts';

/** A clone whose bundler is this program. */
function cloneWith(bundler: string): string {
  const root = mkdtempSync(join(tmpdir(), 'abp-console-build-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
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
  const build = new ConsoleBuild(root);
  await expect(build.folder(() => undefined)).rejects.toThrow(message);
  expect(build.state.kind).toBe('failed');
  expect(readdirSync(join(root, 'node_modules/.cache/abp-console'))).toEqual([]);
});
