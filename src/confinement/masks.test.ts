import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { NOT_LINUX, needing } from '../../test/support/needs.ts';
import { masksFor } from './masks.ts';
import { shownAsIs } from './room.ts';

it.skipIf(NOT_LINUX !== undefined)(needing('stands for a file wherever and by whatever name a room would show it', NOT_LINUX), () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'abp-masks-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [work, beside] = [join(folder, 'work'), join(folder, 'beside')];
  for (const path of [join(work, 'sub'), beside]) mkdirSync(path, { recursive: true });
  const [key, other] = [join(work, 'sub', 'key'), join(beside, 'key')];
  for (const path of [key, other]) writeFileSync(path, 'secret');
  symlinkSync(work, join(folder, 'link'));
  const masked = (...places: Parameters<typeof masksFor>[1]): string[] =>
    masksFor([key, other, join(work, 'gone')], places, '/empty').map(({ at }) => at);
  expect(masked(shownAsIs(work, true))).toEqual([key]);
  expect(masked(shownAsIs(join(folder, 'link')))).toEqual([join(folder, 'link', 'sub', 'key')]);
  expect(masked({ source: beside, at: work, writable: true })).toEqual([join(work, 'key')]);
  expect(masked(shownAsIs(key))).toEqual([key]);
  expect(masked()).toEqual([]);
});
