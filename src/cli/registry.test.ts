import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { rowOf } from './program.ts';
import { COMMANDS, FAMILIES, FORMER_FAMILIES } from './registry.ts';

describe('the registry', () => {
  it('has one row for each file under commands, by the same path', () => {
    const files = globSync('**/*.ts', { cwd: fileURLToPath(new URL('commands/', import.meta.url)) });
    const paths = files.filter((file) => !file.endsWith('.test.ts')).map((file) => file.replace(/\.ts$/, '').replaceAll('/', ' '));
    // Signing in and out has commands of one word, which lie with those about all sign-ins.
    const named = paths.map((path) => path.replace(/^sign-ins (login|logout|whoami)$/, '$1'));
    expect(COMMANDS.map((row) => row.name).sort()).toEqual(named.sort());
  });

  it('names the family of every command of two words', () => {
    const first = COMMANDS.filter((row) => row.name.includes(' ')).map((row) => row.name.split(' ')[0]);
    expect([...new Set(first)].sort()).toEqual(Object.keys(FAMILIES).sort());
  });

  it('names families in the plural, and keeps a former name only where no family has it', () => {
    // One file, and a verb.
    const singular = Object.keys(FAMILIES).filter((name) => !name.endsWith('s') && name !== 'config' && name !== 'import');
    expect(singular).toEqual([]);
    for (const [former, now] of Object.entries(FORMER_FAMILIES)) {
      expect(FAMILIES[now]).toBeDefined();
      expect(FAMILIES[former]).toBeUndefined();
    }
  });

  it.each(COMMANDS.map((row) => ({ row })))('loads $row.name, whose options are named after their flags', async ({ row }) => {
    const { command } = await row.load();
    for (const [name, { syntax }] of Object.entries(command.options)) expect(syntax).toMatch(new RegExp(`^--${dashed(name)}( <[^ ]+>)?$`));
    for (const [name, { syntax }] of Object.entries(command.arguments))
      expect(syntax).toMatch(new RegExp(`^[<[]${dashed(name)}(?:\\.{3})?[>\\]]$`));
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) expect(rowOf(example.split(' ').slice(1))).toBe(row);
  });
});

describe('finding the command before parsing', () => {
  it.each([
    [['serve'], 'serve'],
    [['--json', 'serve'], 'serve'],
    [['--home', 'doctor', 'serve'], 'serve'],
    [['--home=doctor', 'serve'], 'serve'],
    [['--config', 'x.toml', 'config', 'check', 'file'], 'config check'],
    [['config'], undefined],
    [['--help'], undefined],
  ])('reads %j as %s', (argv, name) => {
    expect(rowOf(argv)?.name).toBe(name);
  });
});

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
