import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { needing, ON_WINDOWS } from '../../test/support/needs.ts';
import { programOf } from './programs.ts';

it.skipIf(ON_WINDOWS !== undefined)(needing('a command by its name is found on the PATH of the run', ON_WINDOWS), () => {
  const { file } = programOf('sh', { PATH: '/usr/bin:/bin' });
  expect(isAbsolute(file)).toBe(true);
  expect(file).toBe(programOf('/bin/sh', {}).file);
});

it('a command that is nowhere is an error that names it', () => {
  expect(() => programOf('no-such-command', { PATH: '/usr/bin:/bin' })).toThrow('no-such-command');
});

it.skipIf(ON_WINDOWS !== undefined)(needing('of a project that is its own Python, the rest of it stays outside', ON_WINDOWS), () => {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'abp-programs-')));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  for (const folder of ['bin', 'lib', 'secrets']) mkdirSync(join(project, folder));
  for (const file of ['bin/python', '.env', 'pyvenv.cfg']) writeFileSync(join(project, file), '', { mode: 0o755 });
  writeFileSync(join(project, 'bin', 'agent'), `#!${join(project, 'bin', 'python')}\n`);
  const { places } = programOf(join(project, 'bin', 'agent'), {});
  expect(places.map(({ at }) => at.slice(project.length + 1)).sort()).toEqual(['bin', 'lib', 'pyvenv.cfg']);
});

/** A home with an interpreter in some folder of it, and a script for that; the places that are shown for the script. */
function shownFor(interpreter: string, libraries?: string): { readonly home: string; readonly shown: string[] } {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'abp-programs-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, interpreter);
  for (const folder of [dirname(file), join(home, 'scripts'), ...(libraries === undefined ? [] : [join(home, libraries)])]) {
    mkdirSync(folder, { recursive: true });
  }
  writeFileSync(file, '');
  chmodSync(file, 0o755);
  writeFileSync(join(home, 'scripts', 'agent'), '#!/usr/bin/env interpreter\n');
  const { places } = programOf(join(home, 'scripts', 'agent'), { PATH: dirname(file) }, [home]);
  return { home, shown: places.map(({ at }) => at.slice(home.length + 1)).sort() };
}

it.skipIf(ON_WINDOWS !== undefined).each([
  ['in the bin of the home itself', 'bin/interpreter', undefined, ['bin/interpreter', 'scripts/agent']],
  ['in the bin of a home that has libraries, too', 'bin/interpreter', 'lib', ['bin/interpreter', 'scripts/agent']],
  ['in the bin of a project', 'project/bin/interpreter', undefined, ['project/bin/interpreter', 'scripts/agent']],
  ['in an installation of its own', 'node/v24/bin/interpreter', 'node/v24/lib', ['node/v24/bin', 'node/v24/lib', 'scripts/agent']],
  ['among the programs of a user', '.local/bin/interpreter', '.local/lib', ['.local/bin/interpreter', 'scripts/agent']],
])('an interpreter %s never shows a home', (_, interpreter, libraries, shown) => {
  expect(shownFor(interpreter, libraries).shown).toEqual(shown);
});
