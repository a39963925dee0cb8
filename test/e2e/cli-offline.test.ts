import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AbpResult, callAbp, ended, runAbp, spawnAbp } from '../support/run-abp.ts';

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'abp-cli-'));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function abp(argv: readonly string[], options: { env?: NodeJS.ProcessEnv; stdin?: string } = {}): Promise<AbpResult> {
  return callAbp(argv, { ...options, env: here(options.env) });
}

function here(env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { HOME: base, ABP_HOME: join(base, 'home'), ...env };
}

const workOrder = {
  id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b',
  task: 'fix the build',
  lane: 'patch_first',
  workspace: { root: '.', mode: 'staged', include: [], exclude: [] },
  context: { files: [], snippets: [] },
  policy: {
    allowed_tools: [],
    disallowed_tools: [],
    deny_read: [],
    deny_write: [],
    allow_network: [],
    deny_network: [],
    require_approval_for: [],
  },
  requirements: {
    required: [
      { capability: 'streaming', min_support: 'native' },
      { capability: 'tool_ask_user', min_support: 'any' },
    ],
  },
  config: { model: null, vendor: {}, env: {}, max_budget_usd: null, max_turns: null },
};

describe('abp negotiate', () => {
  it('accepts what the backend has', async () => {
    expect(await abp(['negotiate', 'host:claude', '--require', 'streaming=native,tool_read'])).toEqual({
      code: 0,
      err: '',
      out: `Capability  Needs     Verdict  Offered
streaming   native    met      native
tool_read   emulated  met      emulated

1 native, 1 emulatable, 0 unsupported — fully compatible; every requirement is met
`,
    });
  });

  it('refuses with code 4 what the backend lacks', async () => {
    const { code, out } = await abp(['negotiate', 'host:codex', '--require', 'tool_read=native', '--require', 'mcp_server']);
    expect(code).toBe(4);
    expect(out).toBe(`Capability  Needs     Verdict  Offered
tool_read   native    met      native
mcp_server  emulated  not met  not offered

1 native, 0 emulatable, 1 unsupported — incompatible; 1 not met
`);
  });

  it('answers in the shape of POST /v1/negotiate', async () => {
    const { code, out } = await abp(['--json', 'negotiate', 'host:claude', '--require', 'tool_read=native']);
    expect(code).toBe(4);
    expect(JSON.parse(out)).toEqual({
      result: { native: [], emulatable: ['tool_read'], unsupported: [] },
      report: {
        compatible: true,
        native_count: 0,
        emulated_count: 1,
        unsupported_count: 0,
        summary: '0 native, 1 emulatable, 0 unsupported — fully compatible',
        details: [['ToolRead', { level: 'emulated', strategy: 'adapter' }]],
      },
      unmet: [{ capability: 'tool_read', min_support: 'native', level: 'emulated' }],
    });
  });

  it('wants everything native when it is strict', async () => {
    expect((await abp(['negotiate', 'host:claude', '--require', 'tool_read'])).code).toBe(0);
    expect((await abp(['negotiate', 'host:claude', '--require', 'tool_read', '--strict'])).code).toBe(4);
  });

  it('reads the requirements of a work order, in which any is always met', async () => {
    const file = join(base, 'work-order.json');
    writeFileSync(file, JSON.stringify(workOrder));
    const { code, out } = await abp(['negotiate', 'host:claude', '--file', file]);
    expect(code).toBe(0);
    expect(out).toContain('tool_ask_user  any     met      not offered');
  });

  it('reads bare requirements from the standard input', async () => {
    const stdin = JSON.stringify({ required: [{ capability: 'streaming', min_support: 'native' }] });
    expect((await runAbp(['negotiate', 'host:claude', '--file', '-', '--json'], { stdin, env: here() })).code).toBe(0);
  });

  it.each([
    { what: 'nothing required', argv: ['negotiate', 'host:claude'], message: 'nothing is required' },
    { what: 'no backend', argv: ['negotiate'], message: "missing required argument 'backend'" },
    {
      what: 'an unknown capability',
      argv: ['negotiate', 'host:claude', '--require', 'streming'],
      message: '--require is not valid: required[0].capability: "streming" is not a known capability; did you mean streaming?',
    },
    {
      what: 'an unknown level',
      argv: ['negotiate', 'host:claude', '--require', 'streaming=much'],
      message: '--require is not valid: required[0].min_support: "much" is not one of native, emulated',
    },
    {
      what: 'a file that is not there',
      argv: ['negotiate', 'host:claude', '--file', 'no-such.json'],
      message: 'cannot read no-such.json: it does not exist',
    },
  ])('refuses $what with code 2', async ({ argv, message }) => {
    const { code, out, err } = await abp(argv);
    expect({ code, out, message: err.split('\n')[0] }).toEqual({ code: 2, out: '', message: `abp: ${message}` });
    expect(err.split('\n')[1]).toMatch(/^hint: ./);
  });

  it('refuses an input that is not JSON', async () => {
    const { code, err } = await abp(['negotiate', 'host:claude', '--file', '-'], { stdin: '{' });
    expect(code).toBe(2);
    expect(err).toContain('abp: the standard input is not JSON: ');
  });

  it('answers an unknown backend with code 3', async () => {
    expect((await abp(['negotiate', 'host:nobody', '--require', 'streaming'])).code).toBe(3);
  });

  it('answers an id that two backends share with code 4', async () => {
    expect((await abp(['negotiate', 'claude', '--require', 'streaming'])).code).toBe(4);
  });
});

describe('abp capabilities', () => {
  it('shows one table for each kind of backend', async () => {
    const { code, out } = await abp(['capabilities']);
    expect(code).toBe(0);
    expect(out).toMatch(/^Engines +/);
    expect(out).toMatch(/^Hosts +claude +copilot +gemini +kimi +codex$/m);
    expect(out).toMatch(/^mcp_server +- +emulated +emulated +emulated +-$/m);
  });

  it('shows one backend with what each capability means', async () => {
    const { code, out } = await abp(['capabilities', 'host:codex']);
    expect(code).toBe(0);
    expect(out).toMatch(/^session_resume +emulated +Resume a previously-started session\/conversation\.$/m);
  });

  it('gives the manifests as JSON', async () => {
    const { items } = JSON.parse((await abp(['capabilities', '--json'])).out);
    const host = items.find((one: { id: string }) => one.id === 'host:kimi');
    expect(host).toMatchObject({ id: 'host:kimi', kind: 'host', manifest: { mcp_server: 'emulated', streaming: 'native' } });
    const alone = JSON.parse((await abp(['capabilities', 'host:kimi', '--json'])).out);
    expect(alone).toEqual(host);
  });

  it('uses colours when they are forced, unless they are switched off', async () => {
    const env = { FORCE_COLOR: '1' };
    expect((await abp(['capabilities', 'host:kimi'], { env })).out).toContain('\u001b[32mnative\u001b[39m');
    expect((await abp(['capabilities', 'host:kimi', '--no-color'], { env })).out).not.toContain('\u001b');
    expect((await abp(['capabilities', 'host:kimi', '--json'], { env })).out).not.toContain('\u001b');
  });
});

describe('abp schema', () => {
  const names = [
    'work-order',
    'receipt',
    'event',
    'sidecar-envelope',
    'capability-manifest',
    'capability-requirements',
    'negotiation-result',
    'compatibility-report',
    'emulation-report',
    'error',
  ];

  it('lists the schemas', async () => {
    const { code, out } = await abp(['schema']);
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n')).toEqual(expect.arrayContaining(names));
  });

  it('prints one schema, the same with and without --json', async () => {
    const plain = await abp(['schema', 'receipt']);
    expect(JSON.parse(plain.out)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Receipt' });
    expect(await abp(['schema', 'receipt', '--json'])).toEqual(plain);
  });

  it('writes every schema into a folder', async () => {
    const folder = join(base, 'schemas');
    expect((await abp(['schema', '--output', folder])).code).toBe(0);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(names.map((name) => `${name}.json`)));
    expect(readFileSync(join(folder, 'receipt.json'), 'utf8')).toBe((await abp(['schema', 'receipt'])).out);
  });

  it('answers an unknown name with the nearest', async () => {
    const { code, err } = await abp(['schema', 'recept']);
    expect(code).toBe(3);
    expect(err).toBe("abp: there is no schema 'recept', did you mean receipt?\nhint: abp schema lists the names.\n");
  });
});

it('a reader that goes away early is no fault', async () => {
  const child = spawnAbp(['schema', 'event'], {});
  child.stdout.destroy();
  const err = text(child.stderr);
  expect(await ended(child)).toBe(0);
  expect(await err).toBe('');
});

describe('abp config check', () => {
  it('shows the defaults when there is no file', async () => {
    const { code, out } = await abp(['config', 'check']);
    expect(code).toBe(0);
    expect(out).toMatch(/^No configuration file; these defaults and variables are in effect\.$/m);
  });

  it('shows what a file and the environment say, without the secrets', async () => {
    const file = join(base, 'good.toml');
    writeFileSync(file, '[server]\nport = 9000\n[engines.openai]\nkey = "sk-in-the-file"\ntimeout_s = 5\n');
    const env = { ANTHROPIC_API_KEY: 'sk-in-the-environment', ABP_DATABASE_URL: 'postgres://me:sk-in-the-url@db/abp' };
    const { code, out } = await abp(['config', 'check', file], { env });
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toBe(`${file} is valid; in effect:`);
    expect(out).toMatch(/^server\.port +9000$/m);
    expect(out).toMatch(/^engines\.openai\.timeout_s +5$/m);
    expect(out).toMatch(/^engines\.openai\.key +"••••"$/m);
    expect(out).toMatch(/^database\.url +"postgres:\/\/me:••••@db\/abp"$/m);
    const json = (await abp(['config', 'check', file, '--json'], { env })).out;
    expect(JSON.parse(json)).toMatchObject({ source: file, warnings: [], config: { engines: { claude: { key: '••••' } } } });
    expect(out + json).not.toContain('sk-in');
  });

  it('refuses an engine that does not exist, and names the one that may be meant', async () => {
    const file = join(base, 'odd.toml');
    writeFileSync(file, '[engines.cluade]\nkey = "k"\n');
    const { code, err } = await abp(['config', 'check', file]);
    expect(code).toBe(7);
    expect(err).toMatch(/cluade.*did you mean claude/s);
  });

  it('refuses a file that is not valid with code 7', async () => {
    const file = join(base, 'bad.toml');
    writeFileSync(file, '[server]\nport = "many"\n');
    const { code, err } = await abp(['config', 'check', file]);
    expect(code).toBe(7);
    expect(err).toContain('server.port');
    const asOption = await abp(['--config', file, 'config', 'check', '--json']);
    expect(asOption.code).toBe(7);
    expect(JSON.parse(asOption.out).error).toMatchObject({ code: 'config', type: 'ConfigError' });
  });
});

describe('abp doctor', () => {
  it('finds nothing wrong in a fresh place and creates nothing', async () => {
    const { code, out } = await abp(['doctor', '--json'], { env: { ABP_PORT: '0' } });
    const { ok, checks } = JSON.parse(out);
    expect(checks.filter((one: { status: string }) => one.status === 'fail')).toEqual([]);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    const names = checks.map((one: { check: string }) => one.check);
    expect(names).toEqual([
      'node',
      'home',
      'config',
      'database',
      'journal',
      'receipts',
      'server',
      'engines',
      'disk',
      'clock',
      'sandbox',
      'python',
    ]);
    expect(existsSync(join(base, 'home'))).toBe(false);
  });

  it('fails with code 1 and says what to do', async () => {
    const file = join(base, 'a-file');
    writeFileSync(file, '');
    const { code, out } = await abp(['doctor', '--home', file], { env: { ABP_PORT: '0' } });
    expect(code).toBe(1);
    expect(out).toMatch(/^fail {2}home +.*a-file is not a folder\n +Move it away, or choose another home with ABP_HOME\.$/m);
  });
});
