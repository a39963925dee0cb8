import { randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Barrier, startProcess } from '../src/base/child-process.ts';
import { barrierOf } from '../src/confinement/barrier.ts';
import { confiner, isObstacle } from '../src/confinement/confiner.ts';
import type { Equipment } from '../src/confinement/equipment.ts';
import { newRunId } from '../src/contract/run-id.ts';
import { STAGE_LIMITS, Stage } from '../src/runtime/workspaces/stages.ts';
import { type BenchReport, formatSpread, judge, spread } from './harness.ts';
import { scratchFolder } from './processes.ts';

const STARTS = 20;
const STAGINGS = 10;
const FILES = 5000;
const FILE_BYTES = 10_400;
const MOST_START_MS = 60;
const MOST_STAGE_MS = 500;
const MOST_COMPARE_MS = 800;

/** What confining a program adds to its start, and how long a workspace of 5,000 files takes to stage and to compare. */
export async function benchSandbox(): Promise<BenchReport> {
  const found = await confiner.equipment();
  if (isObstacle(found)) throw new Error(`there is no sandbox to measure: ${found.reason}`);
  const starts = await measureStarts(found);
  const stages = await measureStages();
  const [overhead, staging, comparing] = [
    spread(starts),
    spread(stages.map(({ made }) => made)),
    spread(stages.map(({ compared }) => compared)),
  ];
  return {
    title: 'Sandbox',
    method:
      `Overhead: ${STARTS} pairs of \`true\`, plain and in a room with both listeners, alternating; the difference of each pair, from the start to the end of the process. ` +
      `Stages: ${FILES} files of ${FILE_BYTES} bytes, staged and compared ${STAGINGS} times with one change; the thread that does it is started each time.`,
    findings: [
      {
        what: 'overhead at start, ms',
        figure: formatSpread(overhead, 0),
        target: `≤ ${MOST_START_MS}`,
        verdict: judge(overhead.median, MOST_START_MS),
      },
      {
        what: `staging ${FILES} files, ms`,
        figure: formatSpread(staging, 0),
        target: `≤ ${MOST_STAGE_MS}`,
        verdict: judge(staging.median, MOST_STAGE_MS),
      },
      {
        what: 'change set, ms',
        figure: formatSpread(comparing, 0),
        target: `≤ ${MOST_COMPARE_MS}`,
        verdict: judge(comparing.median, MOST_COMPARE_MS),
      },
    ],
    table: [],
  };
}

async function measureStarts(equipment: Equipment): Promise<number[]> {
  const folder = scratchFolder();
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  chmodSync(folder, 0o755);
  if (equipment.identity !== undefined) chownSync(workspace, equipment.identity.uid, equipment.identity.gid);
  const room = { workspace: { source: workspace, at: workspace, writable: true }, places: [], ports: [8088, 3128] };
  const barrier = barrierOf({ equipment, room, connected: (_, socket) => socket.destroy() });
  const differences: number[] = [];
  for (let pair = 0; pair < STARTS; pair += 1) differences.push((await startMs(workspace, barrier)) - (await startMs(workspace)));
  return differences;
}

async function startMs(cwd: string, barrier?: Barrier): Promise<number> {
  const started = performance.now();
  const child = await startProcess(
    { command: '/usr/bin/true', args: [], env: {}, cwd, stdin: 'closed', mode: 'pipe', ...(barrier === undefined ? {} : { barrier }) },
    () => undefined, // it prints nothing
  );
  await child.exit;
  return performance.now() - started;
}

async function measureStages(): Promise<{ made: number; compared: number }[]> {
  const folder = scratchFolder();
  const source = join(folder, 'source');
  for (let at = 0; at < FILES; at += 1) {
    mkdirSync(join(source, `folder-${at % 100}`), { recursive: true });
    writeFileSync(join(source, `folder-${at % 100}`, `file-${at}`), randomBytes(FILE_BYTES));
  }
  const plan = { source, include: [], exclude: [], denyRead: [], denyWrite: [], borrows: false, limits: STAGE_LIMITS };
  const measured: { made: number; compared: number }[] = [];
  for (let round = 0; round < STAGINGS; round += 1) {
    const started = performance.now();
    const stage = await Stage.make(join(folder, 'stages'), newRunId(), plan);
    const made = performance.now() - started;
    appendFileSync(join(stage.tree, 'folder-1', 'file-1'), 'changed');
    const compares = performance.now();
    await stage.finish();
    measured.push({ made, compared: performance.now() - compares });
    stage.remove();
  }
  return measured;
}
