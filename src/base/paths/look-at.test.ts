import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lookAt, pathFault } from './look-at.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-look-'));
const file = join(folder, 'file');
writeFileSync(file, 'text');
symlinkSync(join(folder, 'round'), join(folder, 'round'));

afterAll(() => rmSync(folder, { recursive: true }));

describe('a path that somebody gave', () => {
  it('shows what stands there', () => {
    expect(lookAt(file).stats?.isFile()).toBe(true);
    expect(lookAt(folder).stats?.isDirectory()).toBe(true);
  });

  it.each([
    ['that leads nowhere', join(folder, 'none'), 'does not exist'],
    ['below a file', join(file, 'below'), 'does not exist: something on the way to it is a file'],
    ['that is too long', join(folder, 'long'.repeat(2_000)), 'is longer than the system lets a path be'],
    ['with a long name', join(folder, 'long'.repeat(100)), 'is longer than the system lets a path be'],
    ['of a link to itself', join(folder, 'round'), 'leads in circles by its links'],
    ['with a NUL', `${folder}/a\0b`, 'holds a NUL, which no path can'],
  ])('is told in words where it is one %s', (_, path, fault) => {
    expect(lookAt(path)).toEqual({ fault });
  });

  it('is told in words where a folder is read as a file', () => {
    let thrown: unknown;
    try {
      readFileSync(folder);
    } catch (error) {
      thrown = error;
    }
    expect(pathFault(thrown)).toBe('is a folder, not a file');
  });

  it('keeps the words of the system for what has no row', () => {
    expect(pathFault(Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' }))).toBe('cannot be read: EIO: i/o error, read');
  });
});
