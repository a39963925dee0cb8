import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { patchSize } from '../../src/cli/races/standing.ts';
import { Confiner, isObstacle } from '../../src/confinement/confiner.ts';
import { captureIo } from '../support/capture-io.ts';
import { callAbp, ended, runAbp, spawnAbp } from '../support/run-abp.ts';
import { startServe } from '../support/serve.ts';

let folder: string;
let workspace: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-race-'));
  workspace = join(folder, 'work');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'a.txt'), 'first\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const envOf = (home: string): Record<string, string> => ({ ABP_HOME: join(folder, home), HOME: folder, ABP_LOG: 'error' });

interface Row {
  readonly name: string;
  readonly run_id: string | null;
  readonly status: string;
  readonly reason: string | null;
  readonly check: { readonly passed: boolean; readonly exit_code: number | null } | null;
  readonly changes: object | null;
}
interface Shown {
  readonly run_id: string;
  readonly entrants: readonly Row[];
}

type Receipt = Record<string, unknown> & { readonly entrants?: { run_id: string | null }[] };

const TASK = 'write the text hello into the file hello.txt';
// Where the machine has no sandbox they work without one, and say so.
const COMMON = ['--advisory', '--json'];

async function receiptIn(home: string, run: string): Promise<Receipt> {
  const { out } = await callAbp(['receipts', 'show', run, '--json'], { env: envOf(home) });
  return JSON.parse(out) as Receipt;
}

describe('abp race without a server', () => {
  it('lets backends work side by side, judges each in a copy, and names all of them in one receipt', async () => {
    const check = 'grep -q hello hello.txt && echo trace > trace.txt';
    const { code, out, err } = await runAbp(
      ['race', TASK, '--agents', 'engine:sim,engine:sim:gemini,sidecar:none,copilot', '--check', check, '--cwd', workspace, ...COMMON],
      { env: { ...envOf('alone'), PATH: '/usr/bin:/bin' } },
    );
    expect([code, err]).toEqual([0, '']);
    const shown = JSON.parse(out) as Shown;
    const [first, second, unknown, absent] = shown.entrants;
    for (const row of [first, second]) {
      expect(row).toMatchObject({ status: 'completed', check: { passed: true, exit_code: 0 } });
      expect(row?.changes).toEqual({ files: 1, added_lines: 1, removed_lines: 0 });
    }
    expect(unknown).toMatchObject({ name: 'sidecar:none', run_id: null, status: 'refused', check: null });
    expect(absent).toMatchObject({ name: 'copilot', run_id: null, status: 'refused', reason: expect.stringContaining('is not installed') });
    expect(existsSync(join(workspace, 'hello.txt'))).toBe(false);

    const race = await receiptIn('alone', shown.run_id);
    expect(race).toMatchObject({ status: 'completed', plane: 'run', backend: { id: 'race' } });
    expect(race.entrants?.map(({ run_id }) => run_id)).toEqual(shown.entrants.map(({ run_id }) => run_id));
    const own = await receiptIn('alone', String(first?.run_id));
    expect(own).toMatchObject({
      parent_run_id: shown.run_id,
      check: { command: check, passed: true },
      work_order: { lane: 'patch_first' },
    });
    const confined = !isObstacle(await new Confiner().equipment());
    expect(own.rules).toContainEqual(expect.objectContaining({ rule: 'sandbox', by: confined ? 'os' : 'advisory' }));

    const applied = await callAbp(['apply', String(first?.run_id), '--json'], { env: envOf('alone') });
    expect(JSON.parse(applied.out)).toMatchObject({ applied: 1, conflicts: [] });
    expect(readFileSync(join(workspace, 'hello.txt'), 'utf8')).toBe('hello');
    // What the check wrote was never part of the work.
    expect(existsSync(join(workspace, 'trace.txt'))).toBe(false);
    rmSync(join(workspace, 'hello.txt'));
  });
});

describe('abp race on a server', () => {
  it('says by its exit code that nobody passed, and ends everybody on Ctrl-C or when it is killed', async () => {
    const server = await startServe(join(folder, 'served'), envOf('served'));
    const failing = await runAbp(
      ['race', TASK, '--agents', 'engine:sim,engine:sim', '--check', 'echo no; exit 3', '--cwd', workspace, ...COMMON],
      { env: envOf('served') },
    );
    expect(failing.code).toBe(8);
    const { entrants } = JSON.parse(failing.out) as Shown;
    expect(entrants.map(({ name, check }) => [name, check?.exit_code])).toEqual([
      ['engine:sim#1', 3],
      ['engine:sim#2', 3],
    ]);
    const stage = join(folder, 'served', 'stages', String(entrants[0]?.run_id));
    expect(readFileSync(join(stage, 'check.log'), 'utf8')).toBe('no\n');
    expect(existsSync(join(stage, 'check'))).toBe(false);

    const key = readFileSync(join(folder, 'served', 'token'), 'utf8').trim();
    const runs = async (status: string): Promise<string[]> => {
      const answer = await fetch(`${server.url}/v1/runs?plane=run&status=${status}&limit=50`, { headers: { 'x-abp-key': key } });
      return ((await answer.json()) as { items: { run_id: string }[] }).items.map(({ run_id }) => run_id);
    };
    const begin = async () => {
      const child = spawnAbp(
        ['race', 'wait 60000 ms', '--agents', 'engine:sim,engine:sim', '--cwd', workspace, ...COMMON],
        envOf('served'),
      );
      onTestFinished(() => void child.kill('SIGKILL'));
      // The race and two entrants.
      await expect.poll(async () => (await runs('running')).length).toBe(3);
      return child;
    };
    const stopped = await begin();
    stopped.kill('SIGINT');
    expect(await ended(stopped)).toBe(130);
    await expect.poll(async () => (await runs('cancelled')).length).toBe(3);

    const killed = await begin();
    killed.kill('SIGKILL');
    await expect.poll(async () => (await runs('running')).length).toBe(0);
    expect((await runs('cancelled')).length).toBe(5);
  });
});

it.each([
  [['race', 'x', '--agents', 'claude'], 'a race needs at least two'],
  [['race', '--agents', 'claude,codex'], 'a task or a work order is needed'],
])('refuses %j', async (argv, words) => {
  const io = captureIo({ env: envOf('none') });
  expect([await main(argv, io), io.err()]).toEqual([2, expect.stringContaining(words)]);
});

it('counts the lines that a patch adds and removes, and no headers', () => {
  const patch = [
    'diff --git a/x b/x',
    '--- a/x',
    '+++ b/x',
    '@@ -1,2 +1,2 @@',
    ' same',
    '--- old',
    '+new',
    'diff --git a/y b/y',
    'deleted file',
  ];
  expect(patchSize(patch.join('\n'))).toEqual({ added: 1, removed: 1 });
});
