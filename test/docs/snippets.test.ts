import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseJsonObject } from '../../src/base/json.ts';
import { runCommand } from '../../src/base/subprocess.ts';
import { AgentApi } from '../support/agent-api.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { ABP_BIN, ABP_CLIENT } from '../support/built.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const PAGES = ['agents-and-capabilities.md', 'coding-agents.md', 'sessions.md'] as const;

interface Snippet {
  readonly page: string;
  readonly language: string;
  readonly code: string;
}

const snippets: readonly Snippet[] = PAGES.flatMap((page) => {
  const text = readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(([, language = '', code = '']) => ({ page, language, code }));
});

const of = (language: string): readonly Snippet[] => snippets.filter((snippet) => snippet.language === language);

let server: TestGateway;
let api: AgentApi;
const folder = mkdtempSync(join(tmpdir(), 'abp-snippets-'));
/** A user with a Claude Code that speaks as the real one does, and a vendor that is `sim`. */
let env: Record<string, string>;

beforeAll(async () => {
  server = await startGateway({ config: { secrets: { ORDERS: { key: 'of-the-shop', hosts: ['api.example.com'] } } } });
  api = new AgentApi(server).withToken();
  const config = join(folder, 'abp.toml');
  writeFileSync(config, `[engines.claude]\nurl = "${server.url}/e/sim"\nkey = "k"\n`);
  mkdirSync(join(folder, 'work'));
  const PATH = [fakeCommand(join(folder, 'bin'), 'claude'), dirname(process.execPath)].join(':');
  env = { PATH, HOME: folder, ABP_HOME: join(folder, 'home'), ABP_CONFIG: config };
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('requests that the guides show', () => {
  it.each(of('http'))('$page: $code', async ({ code }) => {
    const [head = '', ...rest] = code.split('\n');
    const [method = '', path = ''] = head.split(' ');
    const agent = await api.agent({ name: 'helper', system_prompt: 'Be brief.' });
    const answer = await api.call(method, path.replace('agent_…', agent), parseJsonObject(rest.join('\n')));
    expect([answer.status, answer.text]).toEqual([expect.toSatisfy((status) => status === 200 || status === 201), expect.any(String)]);
  });
});

it.each(of('json'))('$page: the answer that it shows is JSON', ({ code }) => {
  expect(parseJsonObject(code)).toBeDefined();
});

it.each(of('markdown'))('$page: the agent that it shows can be imported', async ({ code }) => {
  const { status, body } = await api.call('POST', '/v1/agents/import', code, 'text/markdown');
  expect([status, body.name]).toEqual([201, 'helper']);
});

describe('programs that the guides show', () => {
  it.each(of('ts'))('$page: $code', async ({ code }) => {
    const first = code.includes('const mux =') ? [] : ['const mux = createClient();'];
    const body = code.replaceAll('/srv/app', join(folder, 'work')).replace(/^mux\.run\(/m, 'await mux.run(');
    const file = join(folder, 'snippet.ts');
    const end = ["process.stdout.write('reached its end');", 'await mux.close();'];
    writeFileSync(file, [`import { createClient } from ${JSON.stringify(ABP_CLIENT)};`, ...first, body, ...end].join('\n'));
    const {
      code: exit,
      stdout,
      stderr,
    } = await runCommand(process.execPath, [file], { cwd: join(folder, 'work'), env, timeoutMs: 60_000 });
    expect([exit, stdout, stderr]).toEqual([0, expect.stringContaining('reached its end'), '']);
  });
});

/** Commands that no test can run, each with the reason. */
const NOT_RUN: readonly (readonly [begins: string, reason: string])[] = [
  ['abp run claude "explain this repository" --engine gemini', 'needs a key of the vendor'],
  ['abp run codex', 'needs the agent and a key of the vendor'],
  ['abp launch', 'shows the screen of the agent, which needs a terminal'],
  ['eval "$(abp env', 'gives a shell variables, while a server runs'],
  ['abp chat helper', 'talks in a terminal, or to the model of a vendor'],
  ['export ABP_DATABASE_URL', 'needs a PostgreSQL of the reader'],
  ['abp serve', 'does not end'],
  ['abp worker', 'does not end'],
];

const commands = of('sh').flatMap(({ page, code }) =>
  code
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ page, line })),
);
const isRun = (line: string): boolean => !NOT_RUN.some(([begins]) => line.startsWith(begins));

describe('commands that the guides show', () => {
  it('are run, but for those that no test can run', () => {
    const left = commands.filter(({ line }) => !isRun(line));
    expect([commands.length, left.length]).toEqual([14, 9]);
  });

  it.each(commands.filter(({ line }) => isRun(line)))('$page: $line', async ({ line }) => {
    const words = [...line.replace(/\s+#.*$/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    const { code, stdout, stderr } = await runCommand(process.execPath, [ABP_BIN, ...words.slice(1)], {
      cwd: join(folder, 'work'),
      env,
      timeoutMs: 60_000,
    });
    expect([code, stderr.includes('rror')], `${stdout}${stderr}`).toEqual([0, false]);
  });
});
