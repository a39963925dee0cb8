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
  [
    { policy: { deny_network: ['a.org', 'https://a.org'] } },
    'policy.deny_network[1] is not valid: "https://a.org" names no host: it is a name or an address, * for any characters, and a port if need be.',
  ],
  [{ policy: { allow_network: ['10.0.0.0/8'] } }, 'policy.allow_network[0] is not valid: "10.0.0.0/8" names no host'],
])('a run whose patterns cannot be used is refused with the place of the first of them', (options, message) => {
  expect(() => assertPatterns(options)).toThrow(message);
});

it('patterns that are well formed pass', () => {
  expect(() =>
    assertPatterns({ workspace: { include: ['src/**'], exclude: ['**/*.log'] }, policy: { deny_read: ['~/.ssh/**'] } }),
  ).not.toThrow();
});
