import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toldArtifacts } from './told-artifacts.ts';

const MIB = 1024 * 1024;
const LARGE = randomBytes(20 * MIB);
const digestOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

let root: string;
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-told-'));
  root = join(folder, 'workspace');
  mkdirSync(join(root, 'sub'), { recursive: true });
  writeFileSync(join(root, 'sub', 'small'), 'small');
  writeFileSync(join(root, 'large'), LARGE);
  writeFileSync(join(folder, 'outside'), 'not theirs');
  symlinkSync('../outside', join(root, 'link'));
});
afterAll(() => rmSync(join(root, '..'), { recursive: true }));

const told = (paths: readonly string[], most?: number) =>
  toldArtifacts({ artifacts: paths.map((path) => ({ kind: 'file', path })) }, root, most);

it.each([
  ['sub/small', digestOf('small')],
  ['large', digestOf(LARGE)],
  ['link', null],
  ['../outside', null],
  ['/etc/hostname', null],
  ['sub', null],
  ['absent', null],
  ['a\0b', null],
])('tells the digest of a file in the workspace and of nothing else: %j', async (path, sha256) => {
  expect(await told([path])).toEqual([{ kind: 'file', path, sha256 }]);
});

it('reads so much of all files together and no more', async () => {
  const digests = (await told(['large', 'large', 'sub/small'], 30 * MIB)).map(({ sha256 }) => sha256);
  expect(digests).toEqual([digestOf(LARGE), null, digestOf('small')]);
});

it('lets others have their turn between the pieces of a large file', async () => {
  let turns = 0;
  const timer = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  let next = timer;
  await told(['large']);
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(20);
});
