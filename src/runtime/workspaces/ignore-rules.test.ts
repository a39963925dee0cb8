import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { needing } from '../../../test/support/needs.ts';
import { processorMs } from '../../../test/support/processor-time.ts';
import { isIgnored, parseIgnoreRules } from './ignore-rules.ts';

const PATHS = [
  'a',
  'a.log',
  'a.txt',
  'sub/a.log',
  'sub/deep/a.log',
  'sub/keep.log',
  'build/out',
  'sub/build/out',
  'docs/x/y/z.md',
  'docs/z.md',
  'doc/frotz',
  'a/doc/frotz',
  'Foo1',
  'Foo9x',
  'Fooa',
  '#x',
  '!x',
  'sp ',
  '[x]',
];

const PATTERNS: readonly (readonly string[])[] = [
  ['*.log'],
  ['*.log', '!keep.log'],
  ['/a.log'],
  ['build/'],
  ['/build'],
  ['sub/'],
  ['docs/**/*.md'],
  ['docs/**'],
  ['**/doc/frotz'],
  ['doc/frotz'],
  ['Foo[0-9]*'],
  ['Foo[!0-9]'],
  ['\\#x', '\\!x'],
  ['sp\\ '],
  ['sp  '],
  ['\\[x\\]'],
  ['Foo?'],
  ['# nothing', '', '!a'],
  ['*', '!*.txt', '!/sub'],
  ['sub/*', '!sub/deep'],
  ['**/a.log'],
  ['a/'],
];

/** What the rules say of a path and of the folders above it, as a walk asks. */
function ignores(patterns: readonly string[], path: string): boolean {
  const files = [{ folder: '', rules: parseIgnoreRules(patterns.join('\n')) }];
  const steps = path.split('/');
  return steps.some((_step, at) => isIgnored(files, steps.slice(0, at + 1).join('/'), at < steps.length - 1));
}

const noGit = spawnSync('git', ['--version']).status === 0 ? undefined : 'needs git';

it.skipIf(noGit !== undefined).each(PATTERNS)(needing('says of %s what git says', noGit), (...patterns) => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-ignore-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('git', ['init', '-q'], { cwd: folder });
  const there = PATHS.filter((path) => path !== 'a');
  for (const path of there) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), '');
  }
  writeFileSync(join(folder, '.gitignore'), patterns.join('\n'));
  const listed = execFileSync('git', ['ls-files', '-z', '--others', '--exclude-standard'], { cwd: folder, encoding: 'utf8' }).split('\0');
  expect(there.filter((path) => !ignores(patterns, path)).sort()).toEqual(there.filter((path) => listed.includes(path)).sort());
});

it('takes no longer for patterns that are made to take long', () => {
  const files = [
    {
      folder: '',
      rules: parseIgnoreRules(
        Array(1000)
          .fill(`${'*a'.repeat(100)}b`)
          .join('\n'),
      ),
    },
  ];
  expect(processorMs(() => expect(isIgnored(files, 'a'.repeat(255), false)).toBe(false))).toBeLessThan(2000);
});
