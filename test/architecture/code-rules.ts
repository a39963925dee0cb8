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

/** What opens connections: undici, the transports made of it, Node's own clients, and ours. */
const CONNECTS = new RegExp(
  [
    String.raw`\bimport (?!type\b)[^;]*from '(?:undici|[^']*\b(?:upstream/(?:http|undici|splice)|base/node-fetch)\.ts)'`,
    String.raw`\bimport\('undici'\)`,
    String.raw`\bimport \{[^}]*\bconnect\b[^}]*\} from 'node:(?:net|tls)'`,
    String.raw`\bnodeHttps?\.request\(`,
    String.raw`\bgetBuiltinModule\([^)]*'node:https?'\)`,
  ].join('|'),
  'g',
);

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
    name: 'connection that does not go through the door of an engine',
    // Engines are reached with what `Admission` makes, and with nothing else. A new way out of the process must say here what it is for.
    pattern: CONNECTS,
    where: 'everything',
    allowed: {
      'src/upstream/': 'the one HTTP client of the data path, and that of tools, which judges every address',
      'src/base/builtin/': 'modules of Node, loaded late',
      'src/base/node-fetch.ts': 'the client for servers of ours',
      'src/gateway/deployments.ts': 'puts the way to each engine behind its door',
      'src/gateway/run-plane/context-window.ts': 'reads the list of models of an engine that `run-port` may ask',
      'src/runtime/coding-agents/model-discovery.ts': 'reads the list of models of an engine that `engine-access` lets it ask',
      'src/runtime/bare-model/model.ts': 'calls our own gateway with a run key',
      'src/gateway/run-plane/server-port.ts': 'asks the server of the home',
      'src/gateway/processes/': 'pass requests on to another process of the same server',
      'src/confinement/egress.ts': 'the way out of a room, by its rules for hosts',
      'src/store/recordings/body-bucket.ts': 'the bucket of recorded bodies',
      'src/cli/': 'asks servers of ours',
      'src/conformance/exchange.ts': 'speaks to gateways that are not ours',
    },
    tests: 'not',
    bad: "import { httpTransport } from '../upstream/http.ts';",
    good: "import type { Transport } from '../upstream/exchange.ts'; import type { Dispatcher } from 'undici';",
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
