import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, rowOf } from '../../src/cli/program.ts';
import { FORMER_FAMILIES, FORMER_OPTIONS } from '../../src/cli/registry.ts';
import { loadConfig } from '../../src/gateway/config.ts';
import { captureIo } from '../support/capture-io.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'abp-pages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PAGES = ['README.md', ...readdirSync(join(root, 'docs'), { recursive: true }).map((name) => join('docs', String(name)))].filter(
  (name) => name.endsWith('.md'),
);
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');
const FENCES = /^```(\w*)\n([\s\S]*?)^```/gm;

/** Everything that a page calls `abp` with: lines of its shell blocks, and words in its sentences. */
function commandsIn(page: string): string[] {
  const text = textOf(page);
  const shown = [...text.matchAll(FENCES)].filter(([, language = '']) => /^(?:sh|bash|console)$/.test(language));
  const lines = shown.flatMap(([, , code = '']) => code.replaceAll(/\\\n\s*/g, ' ').split('\n'));
  const named = [...text.replaceAll(FENCES, '').matchAll(/`(abp [a-z][^`]*)`/g)].map(([, code = '']) => code);
  return [...lines.map((line) => line.replace(/(?:^|\s)#.*$/, '')), ...named];
}

const WORD = /"([^"]*)"|'([^']*)'|(\S+)/g;
/** A program of this name after nothing, a prompt, variables or another command. */
const CALL = /(?:^|[$|(;] *|npx |[A-Z]=\S+ )abp ((?:"[^"]*"|'[^']*'|[^|;&<>)])+)/;

function argvOf(line: string): string[] | undefined {
  const [, call] = CALL.exec(line) ?? [];
  return call === undefined ? undefined : [...call.matchAll(WORD)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}

/** Old names are taken, and not taught. */
function former(argv: readonly string[]): boolean {
  const options = FORMER_OPTIONS[rowOf(argv)?.name ?? ''] ?? {};
  return Object.hasOwn(FORMER_FAMILIES, argv[0] ?? '') || argv.some((word) => Object.hasOwn(options, word));
}

/** A sentence may leave out what a command needs; a name that does not exist is wrong anywhere. */
async function wrongIn(argv: readonly string[]): Promise<string | undefined> {
  if (former(argv)) return `abp ${argv.join(' ')}: has a name of before`;
  try {
    await parse(argv, captureIo());
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return /^unknown (?:option|command)/.test(message) ? `abp ${argv.join(' ')}: ${message}` : undefined;
  }
}

it('names no command and no option that does not exist, on any page', async () => {
  const calls = new Set(PAGES.flatMap(commandsIn).flatMap((line) => (argvOf(line) === undefined ? [] : [JSON.stringify(argvOf(line))])));
  const wrong = await Promise.all([...calls].map((argv) => wrongIn(JSON.parse(argv))));
  expect(wrong.filter((one) => one !== undefined && !one.includes('abp needs Node'))).toEqual([]);
  expect(calls.size).toBeGreaterThan(300);
});

/** Rules of a run have a file of their own (--policy). */
const isPolicy = (code: string): boolean => code.startsWith('deny_');

describe('configurations', () => {
  const shown = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(FENCES)].flatMap(([, language, code = '']) =>
      language === 'toml' && !isPolicy(code) ? [{ page, code }] : [],
    ),
  );

  it.each(shown)('$page: is taken without a warning: $code', ({ code }) => {
    const path = join(folder, 'shown.toml');
    writeFileSync(join(folder, 'secret'), 'x'.repeat(32));
    writeFileSync(path, code.replaceAll(/(?:file|sealed) = "[^"]*"/g, `file = ${JSON.stringify(join(folder, 'secret'))}`));
    const env = Object.fromEntries([...code.matchAll(/(?:env = "|the value in )(\w+)/g)].map(([, name = '']) => [name, 'x'.repeat(32)]));
    expect(loadConfig({ path, env }).warnings).toEqual([]);
  });
});
