import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keyOf } from '../../../test/support/principals.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import { Config } from '../config.ts';
import type { Principal } from './principal.ts';
import { assertRunRights } from './run-rights.ts';

const top = mkdtempSync(join(tmpdir(), 'abp-rights-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const root = join(top, 'projects');
mkdirSync(join(root, 'one'), { recursive: true });
mkdirSync(join(top, 'projects-of-others'));
symlinkSync(top, join(root, 'out'));

const runs = { roots: [root], env: ['PROJECT_MODE'] };
const asked = (more: Partial<RunOptions>): RunOptions => ({ agent: 'claude', prompt: 'hi', cwd: join(root, 'one'), ...more });
const policyOf = (part: object): Config['policy'] => Config.parse({ policy: part }).policy;
const refused = (principal: Principal, options: RunOptions, policy = policyOf({})): unknown => {
  try {
    assertRunRights(principal, options, { runs, policy });
    return undefined;
  } catch (error) {
    return error;
  }
};

const REFUSED: readonly (readonly [string, Partial<RunOptions>])[] = [
  ['env.PATH', { env: { PATH: '/opt/evil' } }],
  ['env.NODE_OPTIONS', { env: { LANG: 'C', NODE_OPTIONS: '--require /opt/evil.js' } }],
  ['env.ANTHROPIC_BASE_URL', { env: { ANTHROPIC_BASE_URL: 'https://evil.example' } }],
  ['mcpServers', { mcpServers: [{ name: 'm', transport: 'stdio', command: 'sh', args: ['-c', 'id'] }] }],
  ['attachments', { attachments: [{ filePath: '/etc/shadow' }] }],
  ['skills', { skills: ['/opt/evil-plugin'] }],
  ['skills', { skills: ['./evil'] }],
  ['sessionId', { sessionId: '/srv/.pi/sessions/1.jsonl' }],
  ['forkSessionId', { forkSessionId: '../1' }],
  ['cwd', { cwd: top }],
  ['cwd', { cwd: join(top, 'projects-of-others') }],
  ['cwd', { cwd: join(root, '..') }],
  ['cwd', { cwd: join(root, 'out') }],
  ['cwd', { cwd: join(root, 'missing') }],
];

describe('a key of plane run', () => {
  const key = keyOf({ planes: ['run'] });

  it.each(REFUSED)('may not choose %s: %j', (field, more) => {
    expect(refused(key, asked(more))).toMatchObject({ code: 'forbidden', details: { scope: 'admin', field } });
  });

  it.each([
    [{ sandbox: true }, '127.0.0.1:8088'],
    [{ sandbox: true }, '169.254.169.254'],
    [{ sandbox: true }, '[::1]:443'],
    [{ deny_network: ['evil.example'] }, '10.0.0.7'],
    [{ sandbox: true, allow_network: ['*', '10.0.0.7'] }, '10.0.0.7:22'],
  ])('may not open a way out of the rooms of an operator with %j to %s', (policy, host) => {
    const options = asked({ policy: { allow_network: ['example.com', host] } });
    expect(refused(key, options, policyOf(policy))).toMatchObject({ code: 'forbidden', details: { field: 'policy.allow_network' } });
  });

  it.each([
    [{}, '10.0.0.7'],
    [{ sandbox: true }, 'example.com:8443'],
    [{ sandbox: true, allow_network: ['10.0.0.7:22'] }, '10.0.0.7:22'],
  ])('may open what it could reach anyway, or what an operator with %j names: %s', (policy, host) => {
    expect(refused(key, asked({ policy: { allow_network: [host] } }), policyOf(policy))).toBeUndefined();
  });

  it('may not leave the folder to the server', () => {
    const { cwd: _cwd, ...elsewhere } = asked({});
    expect(refused(key, elsewhere)).toMatchObject({ details: { field: 'cwd' } });
  });

  it.each<Partial<RunOptions>>([
    {},
    { env: { LANG: 'C', LC_ALL: 'C', TZ: 'UTC', PROJECT_MODE: 'x' } },
    { mcpServers: [{ name: 'm', transport: 'streamable-http', url: 'https://mcp.example/x' }] },
    { attachments: [{ base64: 'aGk=', mimeType: 'text/plain' }] },
    { skills: ['pdf'], sessionId: 'a-b-c' },
    { cwd: root },
  ])('may ask for %j', (more) => {
    expect(refused(key, asked(more))).toBeUndefined();
  });
});

it.each([['the token', { kind: 'token' }] as const, ['an admin key', keyOf({ admin: true })] as const])(
  '%s may ask for everything',
  (_, who) => {
    for (const [, more] of REFUSED) expect(refused(who, asked(more))).toBeUndefined();
  },
);
