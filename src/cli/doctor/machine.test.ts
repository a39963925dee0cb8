import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { judgeClock, judgeDisk, judgeNode, nearestFolder, newestChange } from './machine.ts';

describe('doctor on the machine', () => {
  it.each([
    ['22.19.0', 'ok'],
    ['24.0.0', 'ok'],
    ['22.18.9', 'fail'],
    ['20.20.2', 'fail'],
  ])('judges Node %s as %s', (version, status) => {
    expect(judgeNode(version).status).toBe(status);
  });

  it.each([
    [100 * 1024 ** 2, 'fail'],
    [1024 ** 3, 'warn'],
    [10 * 1024 ** 3, 'ok'],
  ])('judges %i free bytes as %s', (free, status) => {
    expect(judgeDisk(free).status).toBe(status);
  });

  it('finds a clock that is too early', () => {
    expect(judgeClock(Date.UTC(1970, 0, 2), 0)).toMatchObject({
      status: 'fail',
      message: 'the clock says 1970-01-02T00:00:00.000Z, which is before this software existed',
    });
  });

  it('finds a clock that has gone back', () => {
    const now = Date.UTC(2027, 0, 1);
    expect(judgeClock(now, now + 3_600_000).status).toBe('warn');
    expect(judgeClock(now, now + 1_000)).toEqual({ status: 'ok', message: '2027-01-01T00:00:00.000Z' });
  });

  it('looks at a home whose files vanish meanwhile', async () => {
    const home = mkdtempSync(join(tmpdir(), 'abp-doctor-'));
    onTestFinished(() => rmSync(home, { recursive: true }));
    // It stands in the list, and there is nothing to look at.
    symlinkSync(join(home, 'gone'), join(home, 'abp.db-shm'));
    expect(await newestChange(home)).toBe(0);
  });

  it('goes up to a folder that exists', () => {
    expect(nearestFolder('/no-such-folder/inner')).toBe('/');
  });
});
