import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startServe } from '../support/serve.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const tour = readme.slice(readme.indexOf('## Five minutes, no key'), readme.indexOf('## What works today'));

function blocks(language: string): string[] {
  return [...tour.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, code]) => code ?? '');
}

function scratch(parent: string): string {
  const folder = mkdtempSync(join(parent, '.abp-tour-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function shell(script: string, home: string): Promise<{ stdout: string; code: number }> {
  // The Node that runs the tests is first on PATH, as npm scripts have it.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, ABP_HOME: home };
  try {
    const { stdout } = await run('bash', ['-c', script.replaceAll('npx abp', 'node bin/abp.js')], { cwd: root, env });
    return { stdout, code: 0 };
  } catch (error) {
    const { stdout, code } = error as { stdout: string; code: number }; // execFile's error
    return { stdout, code };
  }
}

test('the five-minute tour of the README works as pasted', async () => {
  const home = scratch(tmpdir());
  const { url } = await startServe(home);
  const here = (text: string): string => text.replaceAll('http://127.0.0.1:8088', url);
  const [program, ...more] = blocks('js');
  const commands = blocks('sh').map(here);
  expect(more).toEqual([]);
  expect(commands.length).toBeGreaterThanOrEqual(5);

  // Inside the repository, so that the SDK resolves as it does for a reader.
  const file = join(scratch(join(root, 'node_modules')), 'tour.mjs');
  writeFileSync(file, here(program ?? ''));
  const { stdout: printed } = await run(process.execPath, [file], { cwd: root });
  const [hello, runId = '', streamed] = printed.split('\n');
  expect(hello).toBe('hello from the sim');
  expect(runId).toMatch(/^run_[0-9a-f]{32}$/);
  expect(streamed).toBe('one two three four five');

  for (const command of commands) {
    const refused = /^npx abp .*exit code (\d)$/m.exec(command);
    const rest = refused === null ? command : command.replace(refused[0], '');
    const { stdout, code } = await shell(rest.replace('RUN_ID', runId), home);
    expect(code, command).toBe(0);
    expect(stdout, command).not.toContain('"error":{');
    expect(stdout.length, command).toBeGreaterThan(20);
    if (command.includes('RUN_ID'))
      expect(JSON.parse(stdout)).toMatchObject({ run_id: runId, status: 'completed', engine: 'sim', mode: 'passthrough' });
    if (refused !== null) expect((await shell(refused[0], home)).code, refused[0]).toBe(Number(refused[1]));
  }
});
