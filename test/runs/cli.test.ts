import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EXITS } from '../../src/cli/exit-codes.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { type AbpResult, callAbp, runAbp } from '../support/run-abp.ts';
import { startServe } from '../support/serve.ts';

let folder: string;
let env: Record<string, string>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-cli-runs-'));
  mkdirSync(join(folder, 'user'));
  env = { PATH: fakeCommand(join(folder, 'bin'), 'claude'), ABP_HOME: join(folder, 'home'), HOME: join(folder, 'user') };
  // Agents are looked for with the environment of the process, and commands that are called here have that of the test.
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
});

afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const abp = (...argv: string[]): Promise<AbpResult> => callAbp(argv, { env });

function linesOf(out: string): Record<string, unknown>[] {
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('abp run', () => {
  it('writes what the agent says to the standard output and the rest to the standard error', async () => {
    const { code, out, err } = await runAbp(['run', 'claude', 'call it a day', '--engine', 'sim', '--cwd', folder], { env });
    expect(code).toBe(EXITS.ok.code);
    expect(out).toContain('call it a day');
    expect(err).toMatch(/completed · \d+ tokens · no price · [\d.]+ s · run_[0-9a-f]{32}/);
  });

  it('writes events as lines and ends with the result', async () => {
    const { code, out } = await abp(
      'run',
      'claude',
      'hello',
      '--engine',
      'sim',
      '--json',
      '--tag',
      'a',
      '--project',
      'apollo',
      '--cwd',
      folder,
    );
    expect(code).toBe(EXITS.ok.code);
    const lines = linesOf(out);
    expect(lines.map(({ type }) => type)).toContain('session_start');
    expect(lines.at(-1)).toMatchObject({ type: 'run_result', agent: 'claude', exitReason: 'completed', tags: ['a'], projectId: 'apollo' });
  });

  it.each([
    ['persist', 'three calls'],
    ['hi', 'the only call of an agent that gives up by itself'],
  ])('gives up on %s when %s found nobody at the address of the engine, and says where and why', async (prompt) => {
    const nowhere = { ...env, ABP_ENGINE_CLAUDE_URL: 'http://127.0.0.1:1', ABP_ENGINE_CLAUDE_KEY: 'k' };
    const { code, err } = await runAbp(['run', 'claude', prompt, '--engine', 'claude', '--cwd', folder], { env: nowhere });
    expect(code).toBe(EXITS.unavailable.code);
    expect(err).toContain('Claude at http://127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1');
    expect(err).toMatch(/hint: .*(?:http:\/\/127\.0\.0\.1:1|engine)/);
  });

  it('runs six at once on a home that nobody has used, without a server', async () => {
    const home = join(folder, 'fresh-home');
    const runs = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((at) =>
        runAbp(['run', 'claude', `say ${at}`, '--engine', 'sim', '--json', '--cwd', folder], { env: { ...env, ABP_HOME: home } }),
      ),
    );
    expect(runs.map(({ code, err }) => (code === 0 ? '' : err))).toEqual(['', '', '', '', '', '']);
    const results = runs.map(({ out }) => linesOf(out).at(-1));
    expect(results.map((result) => result?.exitReason)).toEqual(Array(6).fill('completed'));
    const receipts = await callAbp(['receipt', 'verify', '--all'], { env: { ...env, ABP_HOME: home } });
    expect(receipts.code).toBe(0);
  });

  it('takes options from a profile, and what the command line says over them', async () => {
    mkdirSync(join(folder, '.abp', 'profiles'), { recursive: true });
    writeFileSync(join(folder, '.abp', 'profiles', 'trial.json'), JSON.stringify({ engine: 'nowhere', tags: ['from-profile'] }));
    const { code, out } = await abp('run', 'claude', 'hello', '--profile', 'trial', '--engine', 'sim', '--json', '--cwd', folder);
    expect(code).toBe(EXITS.ok.code);
    expect(linesOf(out).at(-1)).toMatchObject({ exitReason: 'completed', tags: ['from-profile'] });
    const unknown = await abp('run', 'claude', 'hello', '--profile', 'none', '--cwd', folder);
    expect(unknown.code).toBe(EXITS.notFound.code);
    expect(unknown.err).toContain("There is no profile 'none'.");
  });

  it('runs on the server of the home when there is one, and leaves its receipts there', async () => {
    const server = await startServe(env.ABP_HOME ?? '', { HOME: env.HOME });
    const { code, out } = await abp('run', 'claude', 'hello', '--engine', 'sim', '--json', '--cwd', folder);
    expect(code).toBe(EXITS.ok.code);
    const run = linesOf(out).at(-1)?.runId;
    const receipt = await fetch(`${server.url}/v1/receipts/${run}?wait=60`);
    expect(await receipt.json()).toMatchObject({
      run_id: run,
      plane: 'run',
      status: 'completed',
      backend: { id: 'adapter:claude', version: '2.1.325' },
    });
    const variables = await abp('env', 'claude', '--engine', 'sim');
    expect(variables.err).toBe('');
    expect(variables.out).toContain(`export ANTHROPIC_BASE_URL=${server.url}/e/sim\n`);
    expect(variables.out).toMatch(/export ANTHROPIC_AUTH_TOKEN=abp_[\w-]{40,}\n/);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  it.each<[string, string[], number, RegExp]>([
    ['an agent nobody knows', ['nobody', 'hi'], EXITS.notFound.code, /There is no agent 'nobody'/],
    ['an option that is not well formed', ['claude', 'hi', '--thinking', 'hard'], EXITS.usage.code, /thinkingEffort/],
    ['what the agent cannot do', ['pi', 'hi', '--attach', 'a.bin'], EXITS.refused.code, /Agent 'pi' does not support fileAttachments/],
    ['an agent that is not installed', ['codex', 'hi', '--engine', 'sim'], EXITS.unavailable.code, /is not installed/],
    ['an engine that has no key', ['claude', 'hi', '--engine', 'gemini', '--model', 'g'], EXITS.unavailable.code, /gemini has no key here/],
    ['an engine whose models the agent does not name', ['claude', 'hi', '--engine', 'ollama'], EXITS.usage.code, /model: is required/],
  ])('says in one line why it refuses %s', async (_, argv, code, message) => {
    const result = await abp('run', ...argv);
    expect([result.code, result.err]).toEqual([code, expect.stringMatching(message)]);
  });

  it('has exit codes for agents that run out of time', async () => {
    const { code, err } = await abp('run', 'claude', 'wait', '--engine', 'sim', '--timeout', '1', '--cwd', folder);
    expect(code).toBe(EXITS.agentFailed.code);
    expect(err).toContain('out of time');
  });
});

describe('abp run --remote', () => {
  it('runs on another backplane with its key, and keeps nothing here', async () => {
    const far = join(folder, 'far');
    const config = join(folder, 'far.toml');
    writeFileSync(config, `[runs]\nroots = [${JSON.stringify(folder)}]\n`);
    const server = await startServe(far, { HOME: env.HOME, PATH: env.PATH, ABP_CONFIG: config });
    const made = await callAbp(['keys', 'create', 'a friend', '--plane', 'run', '--json'], { env: { ...env, ABP_HOME: far } });
    const near = { ...env, ABP_HOME: join(folder, 'near'), ABP_KEY: JSON.parse(made.out).secret };
    const argv = ['run', 'claude', 'hello', '--engine', 'sim', '--remote', `${server.url}/`, '--cwd', folder];
    const { code, out } = await callAbp([...argv, '--json'], { env: near });
    expect([code, linesOf(out).at(-1)]).toMatchObject([EXITS.ok.code, { type: 'run_result', exitReason: 'completed' }]);
    expect(JSON.parse((await callAbp(['receipt', 'list', '--json'], { env: near })).out)).toMatchObject({ items: [] });
    const stranger = await callAbp(argv, { env: { ...near, ABP_KEY: 'abp_of_somebody_else' } });
    expect([stranger.code, stranger.err]).toEqual([
      EXITS.auth.code,
      expect.stringContaining('hint: Set ABP_KEY to a key of that backplane'),
    ]);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  it('says where nothing answers', async () => {
    expect(await abp('run', 'claude', 'hi', '--remote', 'http://127.0.0.1:1')).toMatchObject({
      code: EXITS.unavailable.code,
      err: 'abp: http://127.0.0.1:1 does not answer\nhint: Does abp serve run there, and is the address right?\n',
    });
  });
});

it('abp env says that it needs a server', async () => {
  expect(await abp('env', 'claude')).toMatchObject({ code: EXITS.unavailable.code, err: expect.stringContaining('no server is running') });
});

it('abp launch says that it needs a terminal', async () => {
  expect(await abp('launch', 'claude')).toMatchObject({ code: EXITS.usage.code, err: expect.stringContaining('needs a terminal') });
});

describe('abp conversations', () => {
  const id = '0f9a2c1e-1111-4222-8333-444455556666';

  beforeAll(() => {
    const project = join(folder, 'user', '.claude', 'projects', 'p');
    mkdirSync(project, { recursive: true });
    const base = { sessionId: id, cwd: '/somewhere', isSidechain: false, timestamp: '2026-01-02T03:04:05.000Z' };
    const entries = [
      { ...base, type: 'user', uuid: 'a', parentUuid: null, message: { role: 'user', content: 'what is this' } },
      {
        ...base,
        type: 'assistant',
        uuid: 'b',
        parentUuid: 'a',
        message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'a test' }] },
      },
    ];
    writeFileSync(join(project, `${id}.jsonl`), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  });

  it('lists, shows and exports what the agent has kept', async () => {
    expect((await abp('conversations', 'list', 'claude')).out).toContain(`claude:${id}`);
    expect(JSON.parse((await abp('conversations', 'list', '--json')).out)).toMatchObject({
      items: [{ agent: 'claude', sessionId: id, cwd: '/somewhere' }],
    });
    expect((await abp('conversations', 'show', `claude:${id}`)).out).toContain('## user\n\nwhat is this\n\n## assistant\n\na test');
    const { out } = await abp('conversations', 'export', `claude:${id}`, '--format', 'jsonl');
    expect(linesOf(out)).toMatchObject([
      { role: 'user', content: 'what is this' },
      { role: 'assistant', content: 'a test' },
    ]);
  });

  it('names what does not exist', async () => {
    expect(await abp('conversations', 'show', 'claude:nope')).toMatchObject({ code: EXITS.notFound.code });
    expect(await abp('conversations', 'show', 'nope')).toMatchObject({ code: EXITS.usage.code });
    expect(await abp('conversations', 'export', `claude:${id}`, '--format', 'pdf')).toMatchObject({ code: EXITS.usage.code });
  });
});
