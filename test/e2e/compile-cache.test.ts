import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runAbp } from '../support/run-abp.ts';

const NAME = process.getuid === undefined ? 'abp-compiled' : `abp-compiled-${process.getuid()}`;

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-compile-cache-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('keeps what Node has compiled in a folder that nobody else may enter', async () => {
  const folder = temporaryFolder();
  expect(await runAbp(['--version'], { env: { TMPDIR: folder } })).toMatchObject({ code: 0 });
  expect(statSync(join(folder, NAME)).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, NAME))).toHaveLength(1);
});

it('neither reads nor writes compiled code where others may write', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, NAME));
  chmodSync(join(folder, NAME), 0o777);
  expect(await runAbp(['--version'], { env: { TMPDIR: folder } })).toMatchObject({ code: 0 });
  expect(readdirSync(join(folder, NAME))).toEqual([]);
});

it('works where nothing can be kept', async () => {
  const missing = join(temporaryFolder(), 'file');
  expect(await runAbp(['--version'], { env: { TMPDIR: `${missing}\u007f/nowhere/${'x'.repeat(300)}` } })).toMatchObject({ code: 0 });
  expect(existsSync(missing)).toBe(false);
});
