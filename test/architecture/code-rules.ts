import { blank, lineOf } from './blanking.ts';
import { isTest, type SourceFile } from './source-files.ts';

/** A thing that source code must not say and Biome has no rule for, with an example that proves the rule can fail and one that shows what it leaves alone. */
export interface CodeRule {
  readonly name: string;
  readonly pattern: RegExp;
  /** Code without its comments and strings, or everything. */
  readonly where: 'code' | 'everything';
  /** Paths where the pattern is right, each with its reason. */
  readonly allowed: Readonly<Record<string, string>>;
  readonly tests: 'also' | 'not' | 'only';
  readonly bad: string;
  readonly good: string;
}

/** Split so that this file does not trip over its own rule. */
const UNFINISHED = ['TO', 'FIX'].map((start, at) => start + ['DO', 'ME'][at]).join('|');

export const CODE_RULES: readonly CodeRule[] = [
  {
    name: 'JSON.parse outside base/json.ts',
    pattern: /\bJSON\s*\.\s*parse\b/g,
    where: 'code',
    allowed: { 'src/base/json.ts': 'the one parser, where failure is a value' },
    tests: 'not',
    bad: 'const a = JSON.parse(text);',
    good: 'const a = parseJson(text); // not JSON.parse',
  },
  {
    name: 'unfinished work',
    pattern: new RegExp(`\\b(?:${UNFINISHED}|XXX|HACK)\\b`, 'g'),
    where: 'everything',
    allowed: {},
    tests: 'also',
    bad: `// ${UNFINISHED.split('|')[0]}: later`,
    good: 'const todo = toDo();',
  },
  {
    name: 'sentence that does not say who acts',
    pattern: /\bwhoever\b/gi,
    where: 'everything',
    allowed: {},
    tests: 'also',
    bad: '// Whoever comes first waits.',
    good: '// The first caller waits.',
  },
  {
    name: 'fetch',
    pattern: /(?<![\w.$#])fetch\(|\bglobalThis\s*\.\s*fetch\b/g,
    where: 'code',
    allowed: { 'src/client/': 'runs in the caller’s program, where fetch is the one HTTP client there is' },
    tests: 'not',
    bad: 'const a = await fetch(url);',
    good: 'const a = await dispatcher.fetch(url); prefetch(b);',
  },
  {
    name: 'second HTTP client',
    pattern: /\bimport\s*\{[^}]*\brequest\b[^}]*\}\s*from 'undici'|\bcreateParser\(/g,
    where: 'everything',
    allowed: {
      'src/client/events.ts': 'the one reader of event streams',
      'src/cli/recorded/home-server.ts': 'sends recorded requests as they are: headers in their order, bodies as bytes',
      'src/conformance/exchange.ts': 'speaks to gateways that are not ours',
    },
    tests: 'not',
    bad: "import { Agent, request } from 'undici';",
    good: "import { callJson } from '../client/http.ts';",
  },
  {
    name: 'mock of a module',
    pattern: /\bvi\s*\.\s*(?:mock|doMock)\s*\(/g,
    where: 'code',
    allowed: {},
    tests: 'only',
    bad: "vi.mock('../store/keys.ts');",
    good: 'const clock = { now: vi.fn() };',
  },
];

function applies(rule: CodeRule, path: string): boolean {
  if (rule.tests !== 'also' && (rule.tests === 'only') !== isTest(path)) return false;
  return !Object.keys(rule.allowed).some((allowed) => (allowed.endsWith('/') ? path.startsWith(allowed) : path === allowed));
}

/** Where a file breaks a rule, as `path:line`. */
export function offences(rule: CodeRule, file: SourceFile): string[] {
  if (!applies(rule, file.path)) return [];
  const text = rule.where === 'code' ? blank(file.text).codeOnly : file.text;
  return [...text.matchAll(rule.pattern)].map((found) => `${file.path}:${lineOf(text, found.index)}`);
}
