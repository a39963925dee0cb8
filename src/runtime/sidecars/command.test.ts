import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { wholeCommand } from './command.ts';

const base = mkdtempSync(join(tmpdir(), 'abp-command-'));
writeFileSync(join(base, 'sidecar.mjs'), '');
const program = 'process.stdout.write("hello");'.repeat(20);

afterAll(() => rmSync(base, { recursive: true }));

it.each([
  ['the whole name of a file beside the configuration', ['node', 'sidecar.mjs'], ['node', join(base, 'sidecar.mjs')]],
  ['a program of the path as it is', ['sidecar.mjs'], ['sidecar.mjs']],
  ['options as they are', ['node', '--inspect', 'sidecar.mjs'], ['node', '--inspect', join(base, 'sidecar.mjs')]],
  ['a program that stands in the command itself, longer than a path can be', ['node', '-e', program], ['node', '-e', program]],
])('a command has %s', (_, command, whole) => {
  expect(wholeCommand(command, base)).toEqual(whole);
});
