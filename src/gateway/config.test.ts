import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { secretFiles } from '../home/secret-files.ts';
import { loadConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'abp-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function file(text: string): string {
  files += 1;
  const path = join(folder, `${files}.toml`);
  writeFileSync(path, text);
  return path;
}

const load = (text: string, env: Record<string, string> = {}) => loadConfig({ path: file(text), env });

describe('loadConfig', () => {
  it('has a value for everything when nothing is said', () => {
    const { config, warnings } = load('');
    expect(config.server).toMatchObject({ host: '127.0.0.1', port: 8088, hosts: [], origins: [], trust_proxy: false });
    expect(config.auth).toEqual({ local: true, remember_s: 900 });
    expect(config.limits).toEqual({
      vendor_body_mb: 64,
      control_body_mb: 1,
      in_flight_mb: 512,
      connections: 16_384,
      runs: 64,
      stages_mb: 32_768,
      waiting: 1000,
      budgets_away: 'refuse',
    });
    expect(config.database).toEqual({});
    expect(config.engines.claude).toEqual({});
    expect(warnings).toEqual([]);
  });

  it('remembers the files that hold secrets: keys, and itself where it has one in plain', () => {
    const noted = (path: string): boolean => secretFiles().includes(realpathSync(path));
    const [key, tls, master] = [file('sk-from-a-file'), file('a key in PEM'), file(Buffer.alloc(32, 1).toString('base64'))];
    const harmless = file(
      `[engines.claude]\nkey = { file = ${JSON.stringify(key)} }\n[server]\nkey_file = ${JSON.stringify(tls)}\n[[budgets]]\non = { key = "local" }\nperiod = "day"\nlimit_nano_usd = 5`,
    );
    const plain = file('[engines.claude]\nkey = "sk-in-plain"');
    for (const path of [harmless, plain]) loadConfig({ path, env: { ABP_OPENAI_KEY: 'sk-of-the-environment' } });
    expect([key, tls, plain].filter((path) => !noted(path))).toEqual([]);
    expect([harmless, master].filter(noted)).toEqual([]);
  });

  it('reads the file that is named, or named by ABP_CONFIG', () => {
    const path = file('[server]\nport = 9001\n');
    expect(loadConfig({ path, env: {} })).toMatchObject({ source: path, config: { server: { port: 9001 } } });
    expect(loadConfig({ env: { ABP_CONFIG: path } })).toMatchObject({ source: path, config: { server: { port: 9001 } } });
  });

  it('lets the environment speak over the file', () => {
    const { config } = load(
      '[server]\nhost = "::1"\nport = 9001\n[database]\nurl = "postgres://file"\n[engines.claude]\nkey = "file"\nurl = "http://file.test"\n',
      {
        ABP_HOST: '127.0.0.2',
        ABP_PORT: '9002',
        ABP_DATABASE_URL: 'postgres://env',
        ABP_ENGINE_CLAUDE_URL: 'http://env.test',
        ABP_ENGINE_CLAUDE_KEY: 'env',
        ANTHROPIC_API_KEY: 'vendor',
      },
    );
    expect(config.server).toMatchObject({ host: '127.0.0.2', port: 9002 });
    expect(config.database).toEqual({ url: 'postgres://env' });
    expect(config.engines.claude).toEqual({ key: 'env', url: 'http://env.test' });
  });

  it('takes the vendor’s own variable last, and none that is empty', () => {
    expect(load('', { ANTHROPIC_API_KEY: 'vendor' }).config.engines.claude).toEqual({ key: 'vendor' });
    expect(load('[engines.claude]\nkey = "file"', { ANTHROPIC_API_KEY: 'vendor' }).config.engines.claude).toEqual({ key: 'file' });
    expect(load('', { ANTHROPIC_API_KEY: '' }).config.engines.claude).toEqual({});
  });

  it.each(['', 'http', '-1', '65536', '1e3', '0x50', ' 80'])('refuses ABP_PORT="%s"', (port) => {
    expect(() => load('', { ABP_PORT: port })).toThrow('not a port number');
  });

  it.each([
    ['[server]\nport = "many"', 'server.port'],
    ['[server]\nprot = 1', 'server.prot: is not a known field'],
    ['[engines.claude]\nurl = "file:///etc/passwd"', 'engines.claude.url'],
    ['[engines.claude]\nauth = "both"', 'engines.claude.auth: "both" is not one of key, caller'],
    ['[limits]\nvendor_body_mb = 0', 'limits.vendor_body_mb'],
    ['[limits]\nrequests_per_minute = 0', 'limits.requests_per_minute: must be more than 0'],
    ['[server]\nport = 99999', 'server.port: must be at most 65535'],
    ['[server]\nport = 80.5', 'server.port: must be a whole number'],
    ['[server]\norigins = ["app.example"]', 'server.origins[0]: must be an origin such as https://app.example'],
    ['[server]\norigins = ["https://app.example/"]', 'server.origins[0]: must be an origin'],
    ['[database]\nurl = "mysql://x"', 'database.url: must begin with postgres://'],
    ['[oidc]\nissuer = "sso"\nclient_id = "a"', 'oidc.issuer: must be a URL such as https://host.example'],
    ['[oidc]\nissuer = "http://sso.example"\nclient_id = "a"', 'oidc.issuer: must begin with https://'],
    ['[engines.gpu]\nbase = "vllm"\nurl = "localhost:8000"', 'engines.gpu.url: must be a URL such as https://host.example'],
    ['this is not toml', 'is not valid TOML'],
  ])('refuses %j and names the place', (text, words) => {
    expect(() => load(text)).toThrow(words);
  });

  it('refuses a named file that is not there and does without an unnamed one', () => {
    expect(() => loadConfig({ path: join(folder, 'none.toml'), env: {} })).toThrow('it does not exist');
  });

  it.each([
    ['[engines.cluade]\nkey = "x"', 'engines.cluade: there is no engine "cluade"; did you mean claude? An engine of your own needs base'],
    ['[engines.zzzzzz]\nkey = "x"', 'there is no engine "zzzzzz"; known are claude, openai, '],
    ['[engines.gpu]\nbase = "vlm"\nurl = "http://x.test"', 'engines.gpu.base: there is no built-in engine "vlm"; did you mean vllm?'],
    ['[engines.gpu]\nbase = "openai-compatible"', 'engines.gpu.url: is required'],
    ['[engines.codex]\nbase = "openai"', 'engines.codex: this is another name of openai'],
    [
      '[engines.vllm]\nprice = { input = 1, output = 1 }',
      'engines.vllm.price: vllm is built in; give yours a name of its own, with base = "vllm"',
    ],
    ['[engines.GPU]\nbase = "vllm"', 'engines.GPU: a name has letters from a to z'],
    ['[engines.gpu]\nbase = "vllm"\nheaders = { "x y" = "z" }', 'engines.gpu.headers["x y"]'],
    ['[[routes]]\nmatch = "*"\nto = "gemni/pro"', 'routes[0].to: there is no engine "gemni"; did you mean gemini?'],
    ['[[routes]]\nmatch = "*"\nto = "sim"\nfallback = ["sim", "gpt-5"]', 'routes[0].fallback[1]: there is no engine "gpt-5"'],
    ['[[routes]]\nmatch = "*"\nto = "openai/"', 'routes[0].to: "openai/" names no model'],
    ['[[routes]]\nmatch = "*"\nto = "sim"\nfallback = ["claude:claude/ "]', 'routes[0].fallback[0]: "claude:claude/ " names no model'],
    ['[[routes]]\nmatch = "*"\nto = "claude:gemini/x"', 'routes[0].to: claude does not speak "gemini"; it speaks claude'],
  ])('refuses %j, and says what was perhaps meant', (text, words) => {
    expect(() => load(text)).toThrow(words);
  });

  it('takes engines of your own, with their variables and routes to them', () => {
    const text =
      '[engines.gpu-1]\nbase = "openai-compatible"\nurl = "http://gpu.test/v1"\nmodels = ["llama"]\n[[routes]]\nmatch = "*"\nto = "gpu-1/llama"';
    const { config } = load(text, { ABP_ENGINE_GPU_1_KEY: 'k', OPENAI_API_KEY: 'vendor' });
    expect(config.engines['gpu-1']).toMatchObject({ base: 'openai-compatible', key: 'k' });
    const account = load('[engines.second]\nbase = "openai"', { OPENAI_API_KEY: 'vendor' }).config.engines.second;
    expect(account).toEqual({ base: 'openai' });
  });
});
