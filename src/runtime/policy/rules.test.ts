import { expect, it } from 'vitest';
import { assertPatterns } from './rules.ts';

it.each([
  [{ workspace: { include: ['src/**', '[a'] } }, 'workspace.include[1] is not valid: the pattern [a has a [ without its ].'],
  [{ workspace: { exclude: ['{a'] } }, 'workspace.exclude[0] is not valid: the pattern {a has a { without its }.'],
  [{ policy: { deny_read: ['[a'] } }, 'policy.deny_read[0] is not valid: the pattern [a has a [ without its ].'],
  [
    { policy: { deny_write: Array.from({ length: 100 }, () => 'a'.repeat(1000)) } },
    'policy.deny_write[65] is not valid: all patterns of a run together stand for at most 65536 characters.',
  ],
  [
    { workspace: { exclude: Array.from({ length: 240 }, () => `{${','.repeat(200)}}${'*?'.repeat(35)}`) } },
    'workspace.exclude[4] is not valid: all patterns of a run together stand for at most 65536 characters.',
  ],
])('a run whose patterns cannot be used is refused with the place of the first of them', (options, message) => {
  expect(() => assertPatterns(options)).toThrow(message);
});

it('patterns that are well formed pass', () => {
  expect(() =>
    assertPatterns({ workspace: { include: ['src/**'], exclude: ['**/*.log'] }, policy: { deny_read: ['~/.ssh/**'] } }),
  ).not.toThrow();
});
