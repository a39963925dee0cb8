import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { COMMANDS } from '../../src/cli/registry.ts';
import { captureIo } from '../support/capture-io.ts';
import { needing } from '../support/needs.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-completion-'));
const scripts = new Map<string, string>();

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const io = captureIo();
    expect(await main(['completion', shell], io)).toBe(0);
    scripts.set(shell, io.out());
    writeFileSync(join(folder, shell), io.out());
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Why a test of a shell does not run here. */
function lacking(shell: string): string | undefined {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0 ? undefined : `${shell} is not installed`;
}

describe.each(['bash', 'zsh', 'fish'])('completion for %s', (shell) => {
  it('knows every command', () => {
    for (const { name } of COMMANDS) for (const word of name.split(' ')) expect(scripts.get(shell)).toContain(word);
  });

  const missing = lacking(shell);
  it.skipIf(missing !== undefined)(needing('is a script that the shell reads', missing), () => {
    const flags = shell === 'fish' ? ['--no-execute'] : ['-n'];
    expect(spawnSync(shell, [...flags, join(folder, shell)], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  });
});

/** The words that each shell offers at the end of a line, by its own functions. */
const OFFERED: Readonly<Record<string, (line: readonly string[]) => string>> = {
  bash: (line) =>
    `source ${join(folder, 'bash')}; COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${line.length - 1}; _abp; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // What the function gives to zsh, which shows those that begin as the last word does.
  zsh: (line) =>
    `compdef() { }; _files() { }; _describe() { [[ $1 == -o ]] && shift; (( $# == 2 )) || { print "not a call of _describe: $*"; return }
     local -a all; eval "all=(\\"\\\${(@)$2}\\")"; for one in $all; do [[ $one == '${line.at(-1)}'* ]] && print -r -- "\${one%%:*}"; done; true }
     source ${join(folder, 'zsh')}; words=(${line.map((word) => `'${word}'`).join(' ')}); CURRENT=${line.length}; _abp`,
  fish: (line) => `source ${join(folder, 'fish')}; complete -C '${line.join(' ')}' | string split -f 1 \\t`,
};

function offered(shell: string, line: readonly string[]): string[] {
  const flags = { bash: ['--norc'], zsh: ['-f'], fish: ['--no-config'] }[shell] ?? [];
  const printed = execFileSync(shell, [...flags, '-c', OFFERED[shell]?.(line) ?? ''], {
    encoding: 'utf8',
    env: { ...process.env, HOME: folder },
  });
  return printed.trim().split('\n').sort();
}

describe.each(Object.keys(OFFERED))('%s', (shell) => {
  const missing = lacking(shell);
  describe.skipIf(missing !== undefined)(needing('as it runs', missing), () => {
    it.each([
      [
        ['abp', 'rec'],
        ['receipts', 'recordings'],
      ],
      [['abp', 'receipts', 'sh'], ['show']],
      [
        ['abp', '--json', 'keys', ''],
        ['create', 'list', 'revoke', 'rotate', 'set'],
      ],
      [['abp', '--home', 'keys', 'serve', '--po'], ['--port']],
      [['abp', 'receipts', 'list', '--min'], ['--min-cost']],
      [['abp', 'receipts', 'keys', '--lo'], ['--lost']],
      [['abp', 'run', 'claude', '--work'], ['--work-order']],
    ])('offers after %j', (line, words) => {
      expect(offered(shell, line)).toEqual(words);
    });
  });
});

it('knows no other shell', async () => {
  const io = captureIo();
  expect(await main(['completion', 'tcsh'], io)).toBe(2);
  expect(io.err()).toBe("abp: there is no completion for 'tcsh'\nhint: There is one for bash, zsh, fish.\n");
});
