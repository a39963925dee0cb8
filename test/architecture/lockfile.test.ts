import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { completeLock } from '../../scripts/complete-lockfile.ts';

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'));

it('the lock names the packages of every system, with the C library that each is for, so that npm installs those of one alone', () => {
  expect(completeLock(lock)).toEqual(lock);
  expect(lock.packages['node_modules/@biomejs/cli-linux-x64-musl']).toMatchObject({ os: ['linux'], cpu: ['x64'], libc: ['musl'] });
});

it('a package of another system comes into the lock without a hash, and one that is known stays as it is', () => {
  const tool = {
    version: '1.0.0',
    dev: true,
    optionalDependencies: { '@a/tool-linux-arm64-musl': '1.0.0', '@a/tool-darwin-x64': '1.0.0' },
  };
  const known = { version: '1.0.0', integrity: 'sha512-a', cpu: ['x64'], os: ['darwin'] };
  expect(completeLock({ packages: { 'node_modules/tool': tool, 'node_modules/@a/tool-darwin-x64': known } }).packages).toEqual({
    'node_modules/@a/tool-darwin-x64': known,
    'node_modules/@a/tool-linux-arm64-musl': { version: '1.0.0', cpu: ['arm64'], dev: true, libc: ['musl'], optional: true, os: ['linux'] },
    'node_modules/tool': tool,
  });
});
