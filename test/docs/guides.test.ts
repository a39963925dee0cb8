import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { runCommand } from '../../src/base/subprocess.ts';
import { COMMANDS } from '../../src/cli/registry.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { ABP_BIN } from '../support/built.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { callAbp } from '../support/run-abp.ts';
import { shellWord } from '../support/shell-word.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'abp-guides-'));

interface Snippet {
  readonly guide: string;
  readonly language: string;
  readonly code: string;
}

const pages = [...readdirSync(join(root, 'docs/guides')).map((name) => `guides/${name}`), 'deployment.md'];
const snippets: readonly Snippet[] = pages.flatMap((guide) => {
  const text = readFileSync(join(root, 'docs', guide), 'utf8');
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(([, language = '', code = '']) => ({ guide, language, code }));
});
const of = (language: string): readonly Snippet[] => snippets.filter((snippet) => snippet.language === language);

/** The configuration of LiteLLM in its guide, or what becomes of it. */
function litellm(language: string): string {
  return of(language).find(({ guide }) => guide === 'guides/from-litellm.md')?.code ?? '';
}

/** Stands for every vendor: `sim` speaks all dialects. */
let vendor: TestGateway;
let server: TestGateway;
/** A server such as Ollama: Chat Completions and a list of models, and nothing else. */
let local: Server;
let env: Record<string, string>;

beforeAll(async () => {
  vendor = await startGateway();
  local = createServer(answerAsOllama).listen(0, '127.0.0.1');
  await new Promise((resolve) => local.once('listening', resolve));
  // A TCP server has an address object; only pipes have a string.
  const ollama = { url: `http://127.0.0.1:${(local.address() as AddressInfo).port}` };
  const sim = { url: `${vendor.url}/e/sim`, key: 'k' };
  const engines = { claude: sim, gemini: sim, openai: sim, ollama };
  server = await startGateway({ engines });
  const config = join(folder, 'abp.toml');
  const table = Object.entries({ claude: sim, gemini: sim, openai: sim }).map(
    ([id, { url, key }]) => `[engines.${id}]\nurl = "${url}"\nkey = "${key}"`,
  );
  writeFileSync(config, `${table.join('\n')}\n[engines.ollama]\nurl = "${ollama.url}"\n`);
  const bin = join(folder, 'bin');
  const PATH = `${fakeCommand(bin, 'claude')}`;
  program(bin, 'abp', `exec ${shellWord(process.execPath)} ${shellWord(ABP_BIN)} "$@"`);
  // A suite that makes one call by the variable that Anthropic's SDK reads.
  const body = '{"model":"claude-sonnet-4-5","max_tokens":50,"messages":[{"role":"user","content":"Say exactly: tested"}]}';
  for (const name of ['pytest', 'npm'])
    program(bin, name, `curl -sSf "$ANTHROPIC_BASE_URL/v1/messages" -H 'content-type: application/json' -d '${body}' | grep -q tested`);
  mkdirSync(join(folder, 'work/test'), { recursive: true });
  writeFileSync(join(folder, 'work/config.yaml'), litellm('yaml'));
  env = { PATH: `${dirname(process.execPath)}:${PATH}`, HOME: folder, ABP_HOME: server.home, ABP_CONFIG: config };
});
afterAll(async () => {
  await server.close();
  await vendor.close();
  local.close();
  rmSync(folder, { recursive: true, force: true });
});

function program(bin: string, name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

const answerAsOllama: NonNullable<Parameters<typeof createServer>[1]> = (request, response) => {
  const isList = request.url === '/v1/models';
  const choice = { index: 0, message: { role: 'assistant', content: 'Hello from here.' }, finish_reason: 'stop' };
  const answer = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'qwen3',
    choices: [choice],
    usage: { prompt_tokens: 3, completion_tokens: 4 },
  };
  const list = { object: 'list', data: [{ id: 'qwen3', object: 'model', context_length: 40_960 }] };
  request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(JSON.stringify(isList ? list : answer)));
};

/** Lines that no test can run, each with the reason. */
const NOT_RUN: readonly (readonly [begins: string, reason: string])[] = [
  ['abp serve', 'does not end; the server of this suite stands for it'],
  ['abp launch', 'shows the screen of the agent, which needs a terminal'],
  ['ollama pull', 'needs Ollama'],
  ['git add', 'is Git’s own'],
  ['docker ', 'needs Docker'],
  ['POSTGRES_PASSWORD=… docker ', 'needs Docker'],
];
const isRun = (line: string): boolean => !NOT_RUN.some(([begins]) => line.startsWith(begins));

/** The commands of a block, one a line, as this suite runs them. */
function linesOf(code: string): string[] {
  const whole = code.replaceAll(/\\\n\s*/g, ' ');
  return whole
    .split('\n')
    .map((line) => line.replace(/\s{2,}#.*$/, '').replace(/^sudo -u abp ABP_HOME=\S+ /, ''))
    .filter((line) => line !== '' && isRun(line));
}

/** Files are in the folder that the commands are called in. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
  return words.map((word) => (/^[\w./-]+\.(?:yaml|toml|tar\.gz)$|^\.\//.test(word) ? join(folder, 'work', word) : word));
}

let key = '';
let run = '';

/** With the address, the key and the run of this suite. */
const here = (line: string): string =>
  line.replaceAll('http://127.0.0.1:8088', server.url).replaceAll('abp_…', key).replaceAll('run_…', run);

async function shell(script: string): Promise<string> {
  const { code, stdout, stderr } = await runCommand('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd: join(folder, 'work'),
    env,
    timeoutMs: 110_000,
  });
  expect([code, stdout.includes('"error"')], `${script}\n${stdout}${stderr}`).toEqual([0, false]);
  return stdout;
}

/** Commands that take more than a second on a busy machine say how far they are. */
const PROGRESS = /^.* so far\n/gm;

async function runLine(line: string): Promise<void> {
  const [first, second, ...rest] = wordsOf(line);
  // These start programs that write to the terminal of the process, or need one of their own.
  if (first !== 'abp' || second === 'exec' || second === 'run') {
    const out = await shell(line.replace('"Fail with 429."', '"Say exactly: fine"'));
    run = /^x-abp-run-id: (run_\w+)/im.exec(out)?.[1] ?? run;
    return;
  }
  const home = rest.includes('--home') ? [] : ['--home', server.home];
  const { code, out, err } = await callAbp([second ?? '', ...rest, ...home], { env });
  // What has no counterpart is told beside the configuration.
  expect([code, second === 'import' ? '' : err.replaceAll(PROGRESS, '')], `${line}\n${out}`).toEqual([0, '']);
  key = /^abp_\S+/m.exec(out)?.[0] ?? key;
  run = /run_[0-9a-f]{32}/.exec(out)?.[0] ?? run;
}

describe('commands that the guides show', () => {
  it.each(of('sh'))('$guide: $code', async ({ code }) => {
    const lines = linesOf(code);
    if (!/^(?:eval|export) /m.test(code)) {
      for (const line of lines) await runLine(here(line));
      return;
    }
    // What follows needs the variables of one shell. Its key is the one that the shell has just made.
    const script = lines.map((line) =>
      line.startsWith('abp keys create') ? `KEY=$(${line} | head -n 1)` : here(line.replace('abp_…', '"$KEY"')),
    );
    await shell([...script, ...(code.includes('ANTHROPIC_AUTH_TOKEN') ? ['claude "Say exactly: for good"'] : [])].join('\n'));
  });

  it('are run, but for those that no test can run', () => {
    const left = of('sh').flatMap(({ code }) => code.split('\n').filter((line) => line !== '' && !isRun(line)));
    expect(left.length).toBe(9);
  });
});

it('from-litellm.md: the configuration that it shows is the one that abp import makes', async () => {
  const file = join(folder, 'litellm.yaml');
  writeFileSync(file, litellm('yaml'));
  const { out } = await callAbp(['import', 'litellm', file]);
  expect(parseToml(out)).toEqual(parseToml(litellm('toml')));
});

describe('a coding agent on a model of one’s own', () => {
  const variables = async (...model: string[]): Promise<Record<string, string>> => {
    const { code, out, err } = await callAbp(['env', 'claude', '--engine', ...model, '--json', '--home', server.home], { env });
    expect([code, err], out).toEqual([0, '']);
    return JSON.parse(out).env;
  };

  it('is told the context window that the engine’s list has, and none where the model is unknown', async () => {
    const told = { CLAUDE_CODE_MAX_CONTEXT_TOKENS: '40960', CLAUDE_CODE_AUTO_COMPACT_WINDOW: '40960' };
    expect(await variables('ollama', '--model', 'qwen3')).toMatchObject(told);
    expect(Object.keys(await variables('ollama', '--model', 'other'))).not.toContain('CLAUDE_CODE_MAX_CONTEXT_TOKENS');
  });
});

it('record-and-replay-in-ci.md: the steps of GitHub Actions are steps, and call a command with options that it has', async () => {
  const [steps] = of('yaml').filter(({ guide }) => guide === 'guides/record-and-replay-in-ci.md');
  const list: { uses?: string; run?: string }[] = parseYaml(steps?.code ?? '');
  expect(list.map(({ uses, run: command }) => uses ?? command)).toEqual([
    'actions/setup-node@v4',
    'npm ci',
    'npx abp exec --replay test/recorded.jsonl -- npm test',
  ]);
  const row = COMMANDS.find(({ name }) => name === 'exec');
  expect(Object.keys((await row?.load())?.command.options ?? {})).toContain('replay');
});

describe('programs that the guides show', () => {
  const IMPORTS: Readonly<Record<string, string>> = { OpenAI: 'openai', Anthropic: '@anthropic-ai/sdk' };

  function written({ code }: Snippet, at: number): string {
    const scratch = mkdtempSync(join(root, 'node_modules/.abp-guides-'));
    const needed = Object.entries(IMPORTS).filter(([name]) => code.includes(`new ${name}(`) && !code.includes(`import ${name} `));
    const text = here(code).replace("'agent-backplane/client'", JSON.stringify(join(root, 'src/client/client.ts')));
    const file = join(scratch, `${at}.mjs`);
    writeFileSync(file, [...needed.map(([name, from]) => `import ${name} from '${from}';`), text].join('\n'));
    return file;
  }

  const isService = ({ code }: Snippet): boolean => code.includes('.listen(');

  it('run to their end', async () => {
    const files = of('ts')
      .filter((one) => !isService(one))
      .map(written);
    const main = join(dirname(files[0] ?? ''), 'main.mjs');
    writeFileSync(
      main,
      `${files.map((file) => `await import(${JSON.stringify(file)});`).join('\n')}\nprocess.stdout.write('reached its end');\n`,
    );
    try {
      const keys = { OPENAI_API_KEY: server.token, ANTHROPIC_API_KEY: server.token, ABP_KEY: server.token, ABP_URL: server.url };
      const { code, stdout, stderr } = await runCommand(process.execPath, [main], { env: { ...env, ...keys }, timeoutMs: 110_000 });
      expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('reached its end')]);
    } finally {
      for (const file of files) rmSync(dirname(file), { recursive: true, force: true });
    }
  });

  it('agent-in-a-web-page.md: the page gets the agent’s words', async () => {
    const made = await callAbp(['agents', 'create', 'page', '--prompt', 'Be brief.', '--json', '--home', server.home], { env });
    const page = of('ts').find(isService);
    const port = 'function () { process.stdout.write(String(this.address().port)); }';
    const file = written({ ...page!, code: (page?.code ?? '').replace('.listen(3000)', `.listen(0, '127.0.0.1', ${port})`) }, 0);
    const script = `${shellWord(process.execPath)} ${shellWord(file)} ${JSON.parse(made.out).id} > port & trap "kill $!" EXIT
      until [ -s port ]; do kill -0 $!; sleep 0.1; done
      curl -sSf "http://127.0.0.1:$(cat port)/" | grep -q '<input'
      curl -sSf -D - "http://127.0.0.1:$(cat port)/ask?session=&text=Say+exactly:+over+the+page"`;
    const keyed = `export ABP_URL=${server.url} ABP_KEY=${server.token}\n${script}`;
    try {
      expect(await shell(keyed)).toMatch(/x-session: session_\w+[\s\S]*over the page/i);
    } finally {
      rmSync(dirname(file), { recursive: true, force: true });
    }
  });
});
