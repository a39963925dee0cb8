import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../src/base/subprocess.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { needing } from '../support/needs.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'examples/python');
/** All but the module that they share. */
const programs = readdirSync(folder).filter((name) => name.endsWith('.py') && name !== 'backplane.py');
const guides = readdirSync(join(root, 'docs/guides'));
const missing = spawnSync('python3', ['--version']).status === 0 ? undefined : 'python3 is not installed';

it('every guide has a Python file, which it names', () => {
  expect(programs.map((name) => name.replace('.py', '').replaceAll('_', '-')).sort()).toEqual(
    guides.map((name) => name.replace('.md', '')).sort(),
  );
  for (const guide of guides)
    expect(readFileSync(join(root, 'docs/guides', guide), 'utf8')).toContain(guide.replace('.md', '.py').replaceAll('-', '_'));
});

describe.skipIf(missing !== undefined)(needing('the Python file of a guide', missing), () => {
  let server: TestGateway;
  beforeAll(async () => {
    server = await startGateway();
  });
  afterAll(() => server.close());

  it.each(programs)('%s runs', async (name) => {
    const env = { PATH: process.env.PATH ?? '', ABP_URL: server.url, ABP_KEY: server.token, PYTHONDONTWRITEBYTECODE: '1' };
    const { code, stdout, stderr } = await runCommand('python3', [join(folder, name)], { env, timeoutMs: 100_000 });
    expect([code, stderr, stdout === '']).toEqual([0, '', false]);
  });
});
