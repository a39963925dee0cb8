import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/gateway/config.ts';
import { callAbp } from '../support/run-abp.ts';

const [FIRST, SECOND] = ['a master key of the first kind, long enough', 'another master key that is long enough, too'];
const SECRET = 'sk-ant-this-is-the-secret-of-the-vendor';

let folder: string;
let home: string;
let config: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-secrets-'));
  home = join(folder, 'home');
  config = join(folder, 'abp.toml');
  writeFileSync(config, '[engines.claude]\nkey = { sealed = "claude" }\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const abp = (words: readonly string[], env: Record<string, string> = { ABP_MASTER_KEY: FIRST }, stdin = '') =>
  callAbp(['secrets', ...words, '--home', home, '--config', config], { env, stdin });
const sealed = (): string => readFileSync(join(home, 'sealed-secrets.json'), 'utf8');
const keyOf = (env: Record<string, string>): string | undefined =>
  loadConfig({ path: config, env, homePath: home }).config.engines.claude?.key;

describe('a sealed secret', () => {
  beforeEach(async () => {
    expect((await abp(['set', 'claude'], { ABP_MASTER_KEY: FIRST }, `${SECRET}\n`)).code).toBe(0);
  });

  it('is the key of an engine, and stands nowhere in the home', async () => {
    expect(keyOf({ ABP_MASTER_KEY: FIRST })).toBe(SECRET);
    expect(sealed()).not.toContain(SECRET);
    expect(sealed()).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, 20));
    expect(statSync(join(home, 'sealed-secrets.json')).mode & 0o077).toBe(0);
    const { out } = await abp(['list']);
    expect(out).toContain('claude');
    expect(out).not.toContain(SECRET);
  });

  it('stays closed without the master key, with another one, and with a byte changed', () => {
    expect(() => keyOf({})).toThrow('there is no master key');
    expect(() => keyOf({ ABP_MASTER_KEY: SECOND })).toThrow('does not open the sealed secrets');
    expect(() => keyOf({ ABP_MASTER_KEY: 'short' })).toThrow('at least 32 characters');
    const { secrets, ...rest } = JSON.parse(sealed());
    const bytes = Buffer.from(secrets.claude, 'base64');
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    writeFileSync(join(home, 'sealed-secrets.json'), JSON.stringify({ ...rest, secrets: { claude: bytes.toString('base64') } }));
    expect(() => keyOf({ ABP_MASTER_KEY: FIRST })).toThrow('damaged');
    writeFileSync(
      join(home, 'sealed-secrets.json'),
      JSON.stringify({ ...rest, secrets: { claude: secrets.other ?? secrets.claude, other: secrets.claude } }),
    );
    writeFileSync(config, '[engines.claude]\nkey = { sealed = "other" }\n');
    expect(() => keyOf({ ABP_MASTER_KEY: FIRST })).toThrow('damaged');
  });

  it('is opened by a master key of a file, and by one that a program prints', () => {
    const file = join(folder, 'master');
    writeFileSync(file, `${FIRST}\n`);
    const reference = '[engines.claude]\nkey = { sealed = "claude" }\n';
    writeFileSync(config, `${reference}[master_key]\nfile = ${JSON.stringify(file)}\n`);
    expect(keyOf({})).toBe(SECRET);
    const program = ['process.stdout.write(require("fs").readFileSync(process.argv[1], "utf8"))', file];
    writeFileSync(config, `${reference}[master_key]\ncommand = ${JSON.stringify([process.execPath, '-e', ...program])}\n`);
    expect(keyOf({})).toBe(SECRET);
    writeFileSync(
      config,
      `${reference}[master_key]\ncommand = ${JSON.stringify([process.execPath, '-e', `console.error(${JSON.stringify(FIRST)}); process.exit(3)`])}\n`,
    );
    expect(() => keyOf({})).toThrow('it ended with 3');
    expect(() => keyOf({})).not.toThrow(FIRST);
  });

  it('opens with the old and the new master key until the change is finished', async () => {
    const both = { ABP_MASTER_KEY: FIRST, ABP_NEW_MASTER_KEY: SECOND };
    expect((await abp(['rotate'], both)).code).toBe(0);
    expect([keyOf({ ABP_MASTER_KEY: FIRST }), keyOf({ ABP_MASTER_KEY: SECOND })]).toEqual([SECRET, SECRET]);
    const before = JSON.parse(sealed()).secrets.claude;
    expect((await abp(['rotate', '--finish'], { ABP_MASTER_KEY: SECOND })).code).toBe(0);
    expect(JSON.parse(sealed()).secrets.claude).not.toBe(before);
    expect(keyOf({ ABP_MASTER_KEY: SECOND })).toBe(SECRET);
    expect(() => keyOf({ ABP_MASTER_KEY: FIRST })).toThrow('does not open');
    expect((await abp(['rotate'], { ABP_MASTER_KEY: SECOND })).err).toContain('there is no new master key');
  });

  it('is removed', async () => {
    expect((await abp(['remove', 'claude'])).code).toBe(0);
    expect((await abp(['remove', 'claude'])).code).toBe(3);
    expect(() => keyOf({ ABP_MASTER_KEY: FIRST })).toThrow('engines.claude.key names the sealed secret "claude", which there is not');
  });
});

it('is not needed where the configuration names a file or a variable', () => {
  const file = join(folder, 'vendor-key');
  writeFileSync(file, `${SECRET}\n`);
  writeFileSync(config, `[engines.claude]\nkey = { file = ${JSON.stringify(file)} }\n[engines.kimi]\nkey = { env = "MY_KIMI" }\n`);
  const { engines } = loadConfig({ path: config, env: { MY_KIMI: 'k' } }).config;
  expect([engines.claude?.key, engines.kimi?.key]).toEqual([SECRET, 'k']);
  expect(() => loadConfig({ path: config, env: {} })).toThrow('engines.kimi.key names the variable MY_KIMI, which is not set');
  writeFileSync(config, '[engines.claude]\nkey = { file = "/does/not/exist" }\n');
  expect(() => loadConfig({ path: config, env: {} })).toThrow('engines.claude.key is said to be in the file /does/not/exist: ENOENT');
});
