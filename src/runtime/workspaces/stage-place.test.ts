import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makePlace } from './stage-place.ts';

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'abp-place-')), 'run');
  mkdirSync(folder);
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

const tried = mkdtempSync(join(tmpdir(), 'abp-mark-'));
const isMarked = spawnSync('/usr/bin/chattr', ['+T', tried]).status === 0;
rmSync(tried, { recursive: true });
const noMark = isMarked ? undefined : 'the file system of temporary folders takes no mark of chattr';

/** Tells the next time at each look, and remembers which folders were looked at. */
function times(...ms: number[]): { readonly inodes: number[]; readonly look: (place: string) => number } {
  const inodes: number[] = [];
  return {
    inodes,
    look: (place) => {
      inodes.push(statSync(place).ino);
      return ms[inodes.length - 1] ?? Number.NaN;
    },
  };
}

describe('the place of a staged tree', () => {
  test('is the first one where new files are fast', () => {
    const { inodes, look } = times(0.01);
    makePlace(folder, 'tree', look);
    expect(readdirSync(folder)).toEqual(['tree']);
    expect(inodes).toEqual([statSync(join(folder, 'tree')).ino]);
  });

  test('is measured by files that are gone afterwards', () => {
    makePlace(folder, 'tree');
    expect(readdirSync(folder)).toEqual(['tree']);
    expect(readdirSync(join(folder, 'tree'))).toEqual([]);
  });

  test('is another one where they are slow, and the first that is fast enough', (context) => {
    context.skip(noMark !== undefined, noMark);
    const { inodes, look } = times(1, 2, 0.01);
    makePlace(folder, 'tree', look);
    expect(readdirSync(folder)).toEqual(['tree']);
    expect(inodes).toHaveLength(3);
    expect(statSync(join(folder, 'tree')).ino).toBe(inodes[2]);
  });

  test('is the best of those that were tried where all are slow', (context) => {
    context.skip(noMark !== undefined, noMark);
    const { inodes, look } = times(9, 8, 7, 2, 7, 7, 7, 7, 7, 7, 7, 7, 7);
    makePlace(folder, 'tree', look);
    expect(readdirSync(folder)).toEqual(['tree']);
    expect(inodes).toHaveLength(12);
    expect(statSync(join(folder, 'tree')).ino).toBe(inodes[3]);
  });
});
