import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './source-files.ts';

/** Each rule that biome.json sets by name, with a file that must break it. */
const PLANTED: Readonly<Record<string, { readonly path: string; readonly text: string }>> = {
  noExcessiveCognitiveComplexity: {
    path: 'src/ir/complex.ts',
    text: `export function f(a: number): number {\n${'  if (a > 1) {\n'.repeat(6)}  a;\n${'  }\n'.repeat(6)}  return a;\n}\n`,
  },
  noExcessiveLinesPerFunction: { path: 'src/ir/long-function.ts', text: `export function f(): void {\n${'  g();\n'.repeat(61)}}\n` },
  useMaxParams: { path: 'src/ir/parameters.ts', text: 'export const f = (a: 1, b: 1, c: 1, d: 1, e: 1) => [a, b, c, d, e];\n' },
  noUndeclaredDependencies: { path: 'src/ir/undeclared.ts', text: "import { it } from 'vitest';\nit('a');\n" },
  noUnusedImports: { path: 'src/ir/unused-import.ts', text: "import { a } from './a.ts';\n" },
  noUnusedVariables: { path: 'src/ir/unused-variable.ts', text: 'export function f() {\n  const a = 1;\n}\n' },
  noReExportAll: { path: 'src/ir/re-export.ts', text: "export * from './a.ts';\n" },
  noDefaultExport: { path: 'src/ir/default-export.ts', text: 'export default 1;\n' },
  noExcessiveLinesPerFile: { path: 'src/ir/long-file.ts', text: 'export const a = 1;\n'.repeat(401) },
  noNonNullAssertion: { path: 'src/ir/assertion.ts', text: 'export const f = (a?: string) => a!.length;\n' },
  noParameterAssign: { path: 'src/ir/assign.ts', text: 'export function f(a: number) {\n  a = 2;\n  return a;\n}\n' },
  useFilenamingConvention: { path: 'src/ir/camelCase.ts', text: 'export const a = 1;\n' },
  useImportType: { path: 'src/ir/import-type.ts', text: "import { A } from './a.ts';\nexport type B = A;\n" },
  useNamingConvention: { path: 'src/ir/snake-case.ts', text: 'export interface A {\n  readonly min_support: string;\n}\n' },
  useNodejsImportProtocol: { path: 'src/ir/protocol.ts', text: "import { join } from 'path';\njoin('a');\n" },
  useThrowOnlyError: { path: 'src/ir/throw.ts', text: "export function f(): never {\n  throw 'a';\n}\n" },
  noConsole: { path: 'src/ir/print.ts', text: "console.log('a');\n" },
  noEmptyBlockStatements: { path: 'src/ir/empty-block.ts', text: 'export function f(): void {}\n' },
  noExplicitAny: { path: 'src/ir/untyped.ts', text: 'export const f = (a: any) => a;\n' },
  noImportCycles: { path: 'src/ir/cycle-one.ts', text: "import { b } from './cycle-two.ts';\nexport const a = () => b;\n" },
};

/** Files that the overrides must leave alone. */
const EXCUSED: Readonly<Record<string, string>> = {
  'src/ir/wire-names.test.ts': "import { it } from 'vitest';\nit('a', (b: { min_support?: string }) => console.log(b.min_support!));\n",
  'src/contract/shape.ts': 'export interface A {\n  readonly min_support: string;\n}\n',
  'src/dialects/claude/wire.ts': 'export interface A {\n  readonly max_tokens: number;\n}\n',
  'src/dialects/claude/observe.ts': 'export interface A {\n  readonly max_tokens: number;\n}\n',
  'src/adapters/claude/events.ts': 'export interface A {\n  readonly session_id: string;\n}\n',
  'src/gateway/api/keys.ts': 'export interface A {\n  readonly created_at: string;\n}\n',
  'src/store/keys.ts': 'export interface A {\n  readonly created_at: string;\n}\n',
  'src/cli/print.ts': "console.log('a');\n",
  'src/ir/fixtures/oddName.ts': 'export default 1;\n',
};

const folder = mkdtempSync(join(tmpdir(), 'abp-lint-'));
const fired = new Map<string, string[]>();

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

beforeAll(() => {
  const config = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8'));
  write('biome.json', JSON.stringify({ ...config, vcs: { enabled: false } }));
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  write('src/ir/cycle-two.ts', "import { a } from './cycle-one.ts';\nexport const b = () => a;\n");
  for (const { path, text } of Object.values(PLANTED)) write(path, text);
  for (const [path, text] of Object.entries(EXCUSED)) write(path, text);
  const biome = join(ROOT, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
  const run = spawnSync(process.execPath, [biome, 'lint', '--reporter=json', '--max-diagnostics=none', '.'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const report: { diagnostics: { category: string; location: { path: string } }[] } = JSON.parse(run.stdout);
  for (const { category, location } of report.diagnostics) {
    const path = location.path.replaceAll('\\', '/');
    fired.set(path, [...(fired.get(path) ?? []), category.split('/').at(-1) ?? category]);
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

function namedRules(): string[] {
  const { linter } = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8'));
  const groups = Object.values<string | object>(linter.rules).filter((group) => typeof group === 'object');
  return groups.flatMap((group) => Object.keys(group)).sort();
}

describe('the lint rules', () => {
  it('are each planted here', () => {
    expect(Object.keys(PLANTED).sort()).toEqual(namedRules());
  });

  it.each(Object.keys(PLANTED))('fire: %s', (rule) => {
    expect(fired.get(PLANTED[rule]?.path ?? '')).toContain(rule);
  });

  it.each(Object.keys(EXCUSED))('leave %s alone', (path) => {
    expect(fired.get(path)).toBeUndefined();
  });
});
