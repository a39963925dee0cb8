import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newRunId } from '../../contract/run-id.ts';
import { copyWhole } from './copy-file.ts';
import { copyTree } from './copy-tree.ts';
import { Stage } from './stages.ts';

const MIB = 1024 * 1024;

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'abp-copy-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A file of this length with something at these places, and nothing elsewhere. */
function hollow(path: string, length: number, parts: ReadonlyMap<number, Buffer>): void {
  const file = openSync(path, 'w');
  for (const [at, bytes] of parts) writeSync(file, bytes, 0, bytes.length, at);
  ftruncateSync(file, length);
  closeSync(file);
}

const onDisk = (path: string): number => statSync(path).blocks * 512;

describe('a copy of a file with holes', () => {
  it.each([
    ['nothing at all', 32 * MIB, new Map()],
    [
      'parts across the borders of blocks and pieces',
      32 * MIB + 17,
      new Map([
        [4090, randomBytes(20)],
        [MIB - 3, randomBytes(7)],
        [9 * MIB, randomBytes(5000)],
      ]),
    ],
    [
      'something at both ends',
      8 * MIB + 5,
      new Map([
        [0, randomBytes(1)],
        [8 * MIB, Buffer.from('12345')],
      ]),
    ],
  ])('has the same bytes and takes no more disk: %s', (_, length, parts) => {
    const here = folder();
    const [from, to] = [join(here, 'from'), join(here, 'to')];
    hollow(from, length, parts);
    const sha256 = copyWhole(Buffer.from(from), to, statSync(from), 0o640);
    const bytes = readFileSync(to);
    expect(bytes.equals(readFileSync(from))).toBe(true);
    // Undefined where the file system shares blocks.
    expect(sha256 ?? createHash('sha256').update(bytes).digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(onDisk(to)).toBeLessThanOrEqual(onDisk(from) + 64 * 1024);
    expect(statSync(to).mode & 0o777).toBe(0o640);
  });

  it('is made of files without holes, too, and of rights that this process alone could not write with', () => {
    const here = folder();
    const [from, to] = [join(here, 'from'), join(here, 'to')];
    writeFileSync(from, randomBytes(3 * MIB));
    copyWhole(Buffer.from(from), to, statSync(from), 0o444);
    expect(readFileSync(to).equals(readFileSync(from))).toBe(true);
    expect(statSync(to).mode & 0o777).toBe(0o444);
  });
});

describe('a staged workspace with holes', () => {
  const stageOf = (source: string, stages: string): Promise<Stage> =>
    Stage.make(stages, newRunId(), {
      source,
      include: [],
      exclude: [],
      denyRead: [],
      denyWrite: [],
      borrows: false,
      limits: { files: 100, bytes: 1024 ** 3 },
    });

  function places(): { readonly source: string; readonly stages: string } {
    const here = folder();
    mkdirSync(join(here, 'source'));
    return { source: join(here, 'source'), stages: join(here, 'stages') };
  }

  it('keeps them there and on the way back', async () => {
    const { source, stages } = places();
    hollow(join(source, 'image'), 48 * MIB, new Map([[20 * MIB, Buffer.from('here')]]));
    const stage = await stageOf(source, stages);
    expect(onDisk(join(stage.tree, 'image'))).toBeLessThan(MIB);
    hollow(join(stage.tree, 'made'), 40 * MIB, new Map([[MIB, Buffer.from('new')]]));
    expect(await stage.apply()).toMatchObject({ conflicts: [], applied: 1 });
    expect(statSync(join(source, 'made')).size).toBe(40 * MIB);
    expect(onDisk(join(source, 'made'))).toBeLessThan(MIB);
  });

  it('is compared without reading more of them than a thread can in seconds', async () => {
    const { source, stages } = places();
    const stage = await stageOf(source, stages);
    hollow(join(stage.tree, 'endless'), 4 * 1024 ** 4, new Map());
    const changes = await stage.changes();
    expect(changes.changes).toMatchObject([
      { path: 'endless', after: { type: 'special', hollow: true }, held: 'it is one of more holes than are read' },
    ]);
    expect(await stage.apply()).toMatchObject({ conflicts: [], applied: 0 });
  });
});

it('copies what is still there of a folder that others work in', () => {
  const here = folder();
  const [source, target] = [join(here, 'source'), join(here, 'target')];
  for (const path of [join(source, 'sub', 'deep'), target]) mkdirSync(path, { recursive: true });
  for (const name of ['file', 'kept', 'sub/deep/inner']) writeFileSync(join(source, name), name);
  symlinkSync('kept', join(source, 'link'));
  const vanishing = new Set(['file', 'link', 'sub/deep']);
  const looks = (key: string): boolean => {
    if (vanishing.has(key)) rmSync(join(source, key), { recursive: true });
    return true;
  };
  const copied = copyTree({ source, target, looks, limits: { files: 100, bytes: 1e6 } });
  // The folder was there when its turn came, and empty when it was opened.
  expect([...copied.keys()].sort()).toEqual(['kept', 'sub', 'sub/deep']);
});
