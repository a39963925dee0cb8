import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newRunId } from '../../../contract/run-id.ts';
import { openRunFolder } from './run-folder.ts';

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-folder-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

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

it('writes through no link that an agent has left for the next try', () => {
  const outside = temporary();
  writeFileSync(join(outside, 'settings.json'), 'theirs');
  const folder = openRunFolder(temporary(), newRunId());
  const files = { 'settings.json': 'ours', '.agent/settings.json': 'ours', 'deep/er/settings.json': 'ours' };
  folder.write(files);
  rmSync(join(folder.path, 'settings.json'));
  symlinkSync(join(outside, 'settings.json'), join(folder.path, 'settings.json'));
  rmSync(join(folder.path, '.agent'), { recursive: true });
  symlinkSync(outside, join(folder.path, '.agent'));
  rmSync(join(folder.path, 'deep/er/settings.json'));
  mkdirSync(join(folder.path, 'deep/er/settings.json/full'), { recursive: true });
  folder.write(files);
  expect(readFileSync(join(outside, 'settings.json'), 'utf8')).toBe('theirs');
  for (const name of Object.keys(files)) expect(readFileSync(join(folder.path, name), 'utf8')).toBe('ours');
  expect(lstatSync(join(folder.path, '.agent')).isDirectory()).toBe(true);
});
