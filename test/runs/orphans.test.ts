import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { identityOf, processStart, sendSignal } from '../../src/base/process-table.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { sweepRuns } from '../../src/runtime/runs/process/run-folder.ts';

const parentScript = fileURLToPath(new URL('./parent.ts', import.meta.url));

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-orphans-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const alive = (pids: readonly number[]): number[] => pids.filter((pid) => processStart(pid) !== undefined);

it('a backplane that is killed takes the group of its agent along within two seconds, and the next start the rest', async () => {
  const folder = temporary();
  const runs = join(folder, 'runs');
  const parent = spawn(process.execPath, [parentScript, folder, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [line] = await once(createInterface(parent.stdout), 'line');
  const [agent = 0, near = 0, far = 0] = String(line).split(' ').slice(1).map(Number);
  expect(alive([agent, near, far])).toEqual([agent, near, far]);
  const ended = once(parent, 'exit');
  parent.kill('SIGKILL');
  await ended;
  await expect.poll(() => alive([agent, near]), { timeout: 60_000, interval: 50 }).toEqual([]);
  // It left the group of the agent, as a daemon does; only its environment still tells whose it is.
  expect(alive([far])).toEqual([far]);
  expect(sweepRuns(runs)).toHaveLength(1);
  await expect.poll(() => alive([far])).toEqual([]);
  expect(readdirSync(runs)).toEqual(['.processes']);
  expect(readdirSync(join(runs, '.processes'))).toEqual([]);
});

it('a sweep leaves runs of a living process alone and never signals a number that was given to another process', () => {
  const runs = temporary();
  const mine = newRunId();
  const gone = newRunId();
  const owner = identityOf(process.pid);
  for (const [run, record] of [
    [mine, { owner, child: { pid: process.pid, started: 'x' } }],
    [gone, { owner: { pid: process.pid, started: 'before' }, child: { pid: process.pid, started: 'before' } }],
  ] as const) {
    mkdirSync(join(runs, run));
    mkdirSync(join(runs, '.processes'), { recursive: true });
    writeFileSync(join(runs, '.processes', `${run}.json`), JSON.stringify(record));
  }
  expect(sweepRuns(runs)).toEqual([gone]);
  expect(existsSync(join(runs, mine))).toBe(true);
});

it('a sweep signals nobody by a record that an agent may have written, and nobody whose number is below 2', async () => {
  const runs = temporary();
  const bystander = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void bystander.kill('SIGKILL'));
  await once(bystander, 'spawn');
  const planted = newRunId();
  mkdirSync(join(runs, planted), { recursive: true });
  writeFileSync(join(runs, planted, 'process.json'), JSON.stringify({ child: identityOf(bystander.pid ?? 0) }));
  const low = [0, 1, -1, -5, 1.5].map((pid) => ({ run: newRunId(), pid }));
  mkdirSync(join(runs, '.processes'));
  for (const { run, pid } of low) {
    const child = { pid, started: processStart(1) ?? '' };
    writeFileSync(join(runs, '.processes', `${run}.json`), JSON.stringify({ child }));
  }
  expect(sweepRuns(runs)).toHaveLength(6);
  expect(alive([bystander.pid ?? 0])).toEqual([bystander.pid]);
  for (const pid of [0, 1, -1]) expect(() => sendSignal(pid, 'SIGCONT')).toThrow(RangeError);
});

it('a sweep leaves a run alone whose record the version before has written, while its owner lives', () => {
  const runs = temporary();
  const run = newRunId();
  mkdirSync(join(runs, run));
  writeFileSync(join(runs, run, 'process.json'), JSON.stringify({ owner: identityOf(process.pid) }));
  expect(sweepRuns(runs)).toEqual([]);
});

it('a sweep of a home without runs finds nothing', () => {
  expect(sweepRuns(join(temporary(), 'none'))).toEqual([]);
});
