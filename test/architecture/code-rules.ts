import { blank, lineOf } from './blanking.ts';
import { isTest, type SourceFile } from './source-files.ts';

/** A thing that source code must not say, with an example that proves the rule can fail and one that shows what it leaves alone. */
export interface CodeRule {
  readonly name: string;
  readonly pattern: RegExp;
  /** What is searched: code alone, code with its strings, or everything. */
  readonly where: 'code' | 'strings' | 'everything';
  /** Paths where the pattern is right, each with its reason. */
  readonly allowed: Readonly<Record<string, string>>;
  readonly tests: 'also' | 'not' | 'only';
  /** A comment inside the match states a reason and excuses it. */
  readonly commentExcuses?: true;
  readonly bad: string;
  readonly good: string;
}

/** Split so that this file does not trip over its own rule. */
const UNFINISHED = ['TO', 'FIX'].map((start, at) => start + ['DO', 'ME'][at]).join('|');

export const CODE_RULES: readonly CodeRule[] = [
  {
    name: 'any',
    pattern: /:\s*any\b|\bas\s+any\b|<\s*any\s*[>,]|\bany\[\]/g,
    where: 'code',
    allowed: {},
    tests: 'also',
    bad: 'const a = b as any;',
    good: "const a: unknown = 'as any'; // takes: any value",
  },
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
    name: 'export *',
    pattern: /\bexport\s*\*/g,
    where: 'code',
    allowed: {},
    tests: 'also',
    bad: "export * from './a.ts';",
    good: "export { a } from './a.ts';",
  },
  {
    name: 'export default',
    pattern: /\bexport\s+default\b|\bas\s+default\b/g,
    where: 'code',
    allowed: {},
    tests: 'also',
    bad: 'export default function a() {}',
    good: "export const a = 'export default';",
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
    name: 'empty catch',
    pattern: /\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}|\.catch\(\s*(?:\(\s*\w*\s*\)|\w+)\s*=>\s*\{\s*\}\s*\)/g,
    where: 'code',
    allowed: {},
    tests: 'not',
    commentExcuses: true,
    bad: 'try { a(); } catch (error) { }',
    good: 'try { a(); } catch (error) { log(error); } try { b(); } catch { /* Looked at again below. */ }',
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
    name: 'console outside the command line',
    pattern: /\bconsole\s*\.\s*\w+/g,
    where: 'code',
    allowed: { 'src/cli/': 'its output is the product' },
    tests: 'not',
    bad: "console.log('a');",
    good: "log.info('console.log');",
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
  const blanked = blank(file.text);
  const text = { code: blanked.codeOnly, strings: blanked.withoutComments, everything: file.text }[rule.where];
  return [...text.matchAll(rule.pattern)]
    .filter((found) => !rule.commentExcuses || !/\/[/*]/.test(file.text.slice(found.index, found.index + found[0].length)))
    .map((found) => `${file.path}:${lineOf(text, found.index)}`);
}
