import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../gateway/config.ts';
import type { Check, Finding } from './check.ts';
import { database, homeFolder } from './state.ts';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'abp-doctor-'));
  writeFileSync(join(base, 'abp.toml'), '');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function run(check: Check, home: string, env: Record<string, string> = {}): Promise<Finding> {
  return check.run({ home, loaded: loadConfig({ env: { ABP_CONFIG: join(base, 'abp.toml'), ...env } }) });
}

describe('doctor on the home', () => {
  it('accepts a private folder', async () => {
    const home = join(base, 'home');
    mkdirSync(home, { mode: 0o700 });
    expect(await run(homeFolder, home)).toEqual({ status: 'ok', message: home });
  });

  it('accepts that there is none yet', async () => {
    expect(await run(homeFolder, join(base, 'a', 'b'))).toEqual({
      status: 'ok',
      message: `${join(base, 'a', 'b')} (made at the first start)`,
    });
  });

  it('warns when others can read it', async () => {
    const home = join(base, 'home');
    mkdirSync(home);
    chmodSync(home, 0o755);
    expect(await run(homeFolder, home)).toEqual({
      status: 'warn',
      message: `${home} can be read by others (mode 755)`,
      fix: `Run chmod 700 ${home}`,
    });
  });

  it('fails when it is a file', async () => {
    writeFileSync(join(base, 'home'), '');
    expect((await run(homeFolder, join(base, 'home'))).status).toBe('fail');
  });
});

describe('doctor on the database', () => {
  it('accepts that there is none yet', async () => {
    expect(await run(database, base)).toEqual({ status: 'ok', message: 'SQLite (made at the first start)' });
  });

  it('accepts one that opens', async () => {
    const file = join(base, 'abp.db');
    const opened = new DatabaseSync(file);
    opened.exec('CREATE TABLE t (a TEXT)');
    opened.close();
    expect(await run(database, base)).toEqual({ status: 'ok', message: `SQLite ${file}` });
  });

  it('fails on a file that is no database', async () => {
    writeFileSync(join(base, 'abp.db'), 'this is not a database, it is text that is long enough to look like one'.repeat(20));
    const found = await run(database, base);
    expect(found.status).toBe('fail');
    expect(found.message).toContain('file is not a database');
  });

  it('fails on a PostgreSQL that does not answer, without showing its password', async () => {
    const found = await run(database, base, { ABP_DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/abp' });
    expect(found.status).toBe('fail');
    expect(found.message).toContain('PostgreSQL postgres://me:••••@127.0.0.1:1/abp does not answer');
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });
});
