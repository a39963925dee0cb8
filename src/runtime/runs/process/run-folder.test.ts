import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newRunId } from '../../../contract/run-id.ts';
import { openRunFolder } from './run-folder.ts';

const temporary = (): string => mkdtempSync(join(tmpdir(), 'abp-folder-'));

it('shares folders of the home by links, and removes no more than the links', () => {
  const home = temporary();
  const folder = openRunFolder(temporary(), newRunId());
  const links = { 'own/.agent/sessions': '.agent/sessions' };
  folder.link(links, { HOME: home });
  folder.link(links, { HOME: home });
  writeFileSync(join(folder.path, 'own/.agent/sessions/s1'), 'kept');
  folder.remove();
  expect(existsSync(folder.path)).toBe(false);
  expect(readFileSync(join(home, '.agent/sessions/s1'), 'utf8')).toBe('kept');
});

it('links nothing where nothing is asked for', () => {
  const home = temporary();
  openRunFolder(temporary(), newRunId()).link(undefined, { HOME: home });
  expect(existsSync(join(home, '.agent'))).toBe(false);
});

it('keeps files inside the folder', () => {
  const folder = openRunFolder(temporary(), newRunId());
  expect(() => folder.write({ '../outside': 'x' })).toThrow('outside its folder');
  expect(() => folder.link({ '../outside': 'x' }, { HOME: temporary() })).toThrow('outside its folder');
});
