import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Barrier, startProcess } from '../src/base/child-process.ts';
import { barrierOf } from '../src/confinement/barrier.ts';
import { confiner, isObstacle } from '../src/confinement/confiner.ts';
import type { Equipment } from '../src/confinement/equipment.ts';
import { newRunId } from '../src/contract/run-id.ts';
import { STAGE_LIMITS, Stage } from '../src/runtime/workspaces/stages.ts';
import { type BenchReport, formatSpread, interleave, judge, type Spread, spread } from './harness.ts';
import { scratchFolder } from './processes.ts';

const STARTS = 20;
const STAGINGS = 10;
const FILES = 5000;
const FILE_BYTES = 10_400;
const MOST_START_MS = 60;
const MOST_STAGE_MS = 500;
const MOST_COMPARE_MS = 800;
/** On a machine where Node starts in 40 ms the limit of a start is as long as that, and half of it again. */
const MOST_NODE_STARTS = 1.5;
/** Staging writes what `cp -a` writes, and reads it for its digests. */
const MOST_COPIES = 1.5;

/**
 * What confining a program adds to its start, and how long a workspace of 5,000 files takes to stage and to compare: in milliseconds,
 * and against what a plain program does at the same moment, which a busy machine slows down as much.
 */
export async function benchSandbox(): Promise<BenchReport> {
  const found = await confiner.equipment();
  if (isObstacle(found)) throw new Error(`there is no sandbox to measure: ${found.reason}`);
  const starts = await measureStarts(found);
  const stages = await measureStages();
  const overhead = spread(differences(starts.room, starts.plain));
  const ofNode = spread(ratios(differences(starts.room, starts.plain), starts.node));
  const ofCopy = spread(ratios(stages.staged, stages.copied));
  return {
    title: 'Sandbox',
    method:
      `Overhead: ${STARTS} rounds of \`true\`, plain and in a room with both listeners, and of a plain \`node -e 0\`, in turns; from the start to the end of the process. ` +
      `Stages: ${FILES} files of ${FILE_BYTES} bytes, copied by \`cp -a\`, then staged, and compared after one change, ${STAGINGS} times; each copy and stage is removed at once, so that later ones meet a disk where thousands of files have just been removed.`,
    findings: [
      finding('overhead at start, ms', overhead, MOST_START_MS, 0),
      finding('overhead at start, in starts of Node', ofNode, MOST_NODE_STARTS, 2),
      finding(`staging ${FILES} files, ms`, spread(stages.staged), MOST_STAGE_MS, 0),
      finding(`staging ${FILES} files, in copies by \`cp -a\``, ofCopy, MOST_COPIES, 2),
      finding('change set, ms', spread(stages.compared), MOST_COMPARE_MS, 0),
    ],
    table: [
      ['plain', 'ms'],
      ['`true`', formatSpread(spread(starts.plain), 1)],
      ['`node -e 0`', formatSpread(spread(starts.node), 0)],
      ['`cp -a` of the same files', formatSpread(spread(stages.copied), 0)],
    ],
  };
}

function finding(what: string, figure: Spread, target: number, digits: number) {
  return { what, figure: formatSpread(figure, digits), target: `≤ ${target}`, verdict: judge(figure.median, target) };
}

const differences = (a: readonly number[], b: readonly number[]): number[] => a.map((value, at) => value - (b[at] ?? Number.NaN));
const ratios = (a: readonly number[], b: readonly number[]): number[] => a.map((value, at) => value / (b[at] ?? Number.NaN));

async function measureStarts(equipment: Equipment): Promise<Record<'plain' | 'room' | 'node', number[]>> {
  const folder = scratchFolder();
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  chmodSync(folder, 0o755);
  if (equipment.identity !== undefined) chownSync(workspace, equipment.identity.uid, equipment.identity.gid);
  const room = { workspace: { source: workspace, at: workspace, writable: true }, places: [], ports: [8088, 3128] };
  const barrier = barrierOf({ equipment, room, connected: (_, socket) => socket.destroy() });
  const ways = {
    plain: () => startMs(workspace, ['/usr/bin/true']),
    room: () => startMs(workspace, ['/usr/bin/true'], barrier),
    node: () => startMs(workspace, [process.execPath, '-e', '0']),
  };
  const samples = await interleave(['plain', 'room', 'node'], STARTS, async (way) => await ways[way]());
  return { plain: samples.get('plain') ?? [], room: samples.get('room') ?? [], node: samples.get('node') ?? [] };
}

async function startMs(cwd: string, [command, ...args]: readonly [string, ...string[]], barrier?: Barrier): Promise<number> {
  const started = performance.now();
  const child = await startProcess(
    { command, args, env: {}, cwd, stdin: 'closed', mode: 'pipe', ...(barrier === undefined ? {} : { barrier }) },
    () => undefined, // it prints nothing
  );
  await child.exit;
  return performance.now() - started;
}

interface StageSamples {
  readonly copied: number[];
  readonly staged: number[];
  readonly compared: number[];
}

async function measureStages(): Promise<StageSamples> {
  const folder = scratchFolder();
  const source = join(folder, 'source');
  for (let at = 0; at < FILES; at += 1) {
    mkdirSync(join(source, `folder-${at % 100}`), { recursive: true });
    writeFileSync(join(source, `folder-${at % 100}`, `file-${at}`), randomBytes(FILE_BYTES));
  }
  const plan = { source, include: [], exclude: [], denyRead: [], denyWrite: [], borrows: false, limits: STAGE_LIMITS };
  const samples: StageSamples = { copied: [], staged: [], compared: [] };
  for (let round = 0; round < STAGINGS; round += 1) {
    samples.copied.push(copyMs(source, join(folder, 'copy')));
    const started = performance.now();
    const stage = await Stage.make(join(folder, 'stages'), newRunId(), plan);
    samples.staged.push(performance.now() - started);
    appendFileSync(join(stage.tree, 'folder-1', 'file-1'), 'changed');
    const compares = performance.now();
    await stage.finish();
    samples.compared.push(performance.now() - compares);
    stage.remove();
  }
  return samples;
}

function copyMs(source: string, target: string): number {
  const started = performance.now();
  execFileSync('cp', ['-a', source, target]);
  const ms = performance.now() - started;
  rmSync(target, { recursive: true });
  return ms;
}
