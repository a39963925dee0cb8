import { isAbsolute } from 'node:path';
import { expect, it } from 'vitest';
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
