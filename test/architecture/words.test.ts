import { describe, expect, it } from 'vitest';
import { lineOf } from './blanking.ts';
import { CODE_RULES, offences } from './code-rules.ts';
import { projectPaths, readSource, type SourceFile, typescriptFiles } from './source-files.ts';

describe.each(CODE_RULES)('src has no $name', (rule) => {
  const sample = (text: string): SourceFile => ({ path: rule.tests === 'only' ? 'src/ir/a.test.ts' : 'src/ir/a.ts', text });

  it('holds', () => {
    expect(typescriptFiles('src', ...(rule.tests === 'only' ? ['test'] : [])).flatMap((file) => offences(rule, file))).toEqual([]);
  });

  it('catches a planted one', () => {
    expect(offences(rule, sample(`\n${rule.bad}\n`))).toEqual([`${sample('').path}:2`]);
  });

  it('leaves what only looks like it alone', () => {
    expect(offences(rule, sample(rule.good))).toEqual([]);
  });

  it('knows its exceptions', () => {
    for (const path of Object.keys(rule.allowed)) {
      expect(offences(rule, { path: path.endsWith('/') ? `${path}a.ts` : path, text: rule.bad })).toEqual([]);
    }
  });
});

const KEBAB_FILE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9-]+)+$/;
const KEBAB_FOLDER = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const CODE_FOLDERS = ['src', 'test', 'bench', 'scripts', 'hosts', 'examples'];
/** Names that say nothing, and become the place where everything lands. */
const NO_FOLDERS = ['utils', 'util', 'common', 'helpers', 'helper', 'shared', 'core', 'types', 'misc', 'lib'];
const NO_FILES = ['utils', 'util', 'common', 'helpers', 'helper', 'misc'];

function badNames(paths: readonly string[]): string[] {
  const code = paths.filter(
    (path) => path.endsWith('.ts') && !path.includes('/fixtures/') && CODE_FOLDERS.includes(path.split('/')[0] ?? ''),
  );
  return code.filter((path) => {
    const folders = path.split('/');
    const file = folders.pop() ?? '';
    const badFolder = folders.some((folder) => !KEBAB_FOLDER.test(folder) || NO_FOLDERS.includes(folder));
    return badFolder || !KEBAB_FILE.test(file) || NO_FILES.includes(file.split('.')[0] ?? '');
  });
}

describe('names of files and folders', () => {
  it('are kebab-case words that say what is inside', () => {
    expect(badNames(projectPaths())).toEqual([]);
  });

  it('are caught when they are not', () => {
    const bad = [
      'src/ir/runId.ts',
      'src/ir/run_id.ts',
      'src/utils/a.ts',
      'src/gateway/types/a.ts',
      'src/Ir/a.ts',
      'src/ir/helpers.ts',
      'test/common/a.ts',
    ];
    expect(badNames([...bad, 'src/ir/run-id.test.ts', 'src/store/migrations/0001-first.ts', 'src/ir/fixtures/Odd_Name.ts'])).toEqual(bad);
  });
});

/** A text that must stand in no file of the project, because it names a machine instead of the product. */
interface TextRule {
  readonly name: string;
  readonly pattern: RegExp;
  /** Files where it is right, each with its reason. */
  readonly allowed: Readonly<Record<string, string>>;
  readonly bad: string;
  readonly good: string;
}

/** Written in pieces, so that the rules do not trip over themselves. */
const folder = (name: string): string => `/${name}/`;
const registryHost = ['registry', 'npmjs', 'org'].join('.');

const TEXT_RULES: readonly TextRule[] = [
  {
    name: 'path of a machine',
    pattern: /(?<![\w.~}-])\/(?:work|root|tmp)\/(?=[\w.$-])/g,
    allowed: {},
    bad: `cd ${folder('work')}project`,
    good: 'https://example.test/work/a and src/root/b and ./tmp/c',
  },
  {
    name: 'package registry',
    pattern: new RegExp(
      `\\b(?:${['registry', 'npm', 'packages'].join('|')})\\.[a-z0-9-]+\\.[a-z]{2,}\\b|"resolved"\\s*:\\s*"https?:|\\b(?:yarnpkg|npmmirror)\\.com\\b`,
      'g',
    ),
    allowed: {},
    bad: `"a": "https://${registryHost}/a"`,
    good: 'the registry.get call, npm.cmd, "name": "resolved"',
  },
];

function textOffences(rule: TextRule, file: SourceFile): string[] {
  if (Object.hasOwn(rule.allowed, file.path)) return [];
  return [...file.text.matchAll(rule.pattern)].map((found) => `${file.path}:${lineOf(file.text, found.index)}`);
}

describe.each(TEXT_RULES)('no file holds the $name', (rule) => {
  it('holds for every file, the lock file included', () => {
    const paths = projectPaths();
    expect(paths).toContain('package-lock.json');
    expect(paths.flatMap((path) => textOffences(rule, readSource(path)))).toEqual([]);
  });

  it('catches a planted one and leaves the harmless alone', () => {
    expect(textOffences(rule, { path: 'docs/a.md', text: `one\n${rule.bad}` })).toEqual(['docs/a.md:2']);
    expect(textOffences(rule, { path: 'docs/a.md', text: rule.good })).toEqual([]);
  });
});
