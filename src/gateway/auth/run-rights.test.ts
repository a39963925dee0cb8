import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keyOf } from '../../../test/support/principals.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
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
const refused = (principal: Principal, options: RunOptions): unknown => {
  try {
    assertRunRights(principal, options, { runs });
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
