import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { markedProcesses, sendSignal } from '../../src/base/process-table.ts';
import { Confiner, isObstacle } from '../../src/confinement/confiner.ts';
import { newRunId, parseRunId, type RunId } from '../../src/contract/run-id.ts';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { Stage, tidyStages } from '../../src/runtime/workspaces/stages.ts';
import { walkTree } from '../../src/runtime/workspaces/tree.ts';
import { KILL_ROUNDS, ROUND_MS } from '../crash/size.ts';
import { AgentApi } from '../support/agent-api.ts';
import { startGateway } from '../support/gateway.ts';
import { call } from '../support/http-call.ts';
import { NOT_LINUX, needing } from '../support/needs.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { spawnAbp } from '../support/run-abp.ts';
import { type ServeProcess, startServe } from '../support/serve.ts';

const WORKER = fileURLToPath(new URL('./working-sidecar.mjs', import.meta.url));
const found = await new Confiner().equipment();
const obstacle = isObstacle(found) ? found.reason : undefined;

const picture = (root: string): unknown =>
  [...walkTree(root, () => true)].map(([key, { node }]) => [key, node]).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-kill-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the worker and kills it some moment after it has begun a phase. */
async function killedIn(phase: string, delayMs: number, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./stage-process.ts', import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  for await (const line of createInterface(child.stdout)) {
    if (line !== phase) continue;
    await sleep(delayMs);
    child.kill('SIGKILL');
    break;
  }
  child.stdout.resume();
  await ended;
}

describe.each(['staging', 'running', 'diffing', 'applying'])('kill -9 while %s', (phase) => {
  it(
    `leaves the source as it was, or as it should become, and the stage of use, ${KILL_ROUNDS} times`,
    async () => {
      for (let round = 0; round < KILL_ROUNDS; round += 1) {
        const folder = scratch();
        const [source, stages, run] = [join(folder, 'source'), join(folder, 'stages'), newRunId()];
        mkdirSync(source);
        for (let at = 0; at < 60; at += 1) {
          writeFileSync(join(source, `changed-${at}`), `${at}\n`);
          writeFileSync(join(source, `gone-${at}`), `${at} gone\n`);
        }
        const before = picture(source);
        await killedIn(phase, (round * 37) % 120, [source, stages, run]);
        await tidyStages(stages).removal;
        expect(readdirSync(source).filter((name) => name.startsWith('.abp'))).toEqual([]);
        const stage = Stage.open(stages, run);
        const now = JSON.stringify(picture(source));
        // Killed after the last step of applying, everything is there; before it, nothing is.
        if (stage?.state !== 'applied' && now !== JSON.stringify(before)) expect(now).toBe(JSON.stringify(picture(stage?.tree ?? '')));
        if (phase === 'staging' && stage === undefined) continue;
        expect(stage).toBeDefined();
        expect((await stage?.apply())?.conflicts).toEqual([]);
        expect(picture(source)).toEqual(picture(stage?.tree ?? ''));
      }
    },
    KILL_ROUNDS * ROUND_MS,
  );
});

/** Large enough for its copy and its comparison to take a while. */
const FILES = 1500;

/** A server and a workspace with an agent that does what `task.sh` there says. */
async function place(task: string): Promise<{ workspace: string; home: string; before: unknown; serve(): Promise<Served> }> {
  const folder = scratch();
  const [workspace, home] = [join(folder, 'workspace'), join(folder, 'home')];
  for (const name of ['workspace', 'bin', 'user']) mkdirSync(join(folder, name));
  copyFileSync(fileURLToPath(new URL('../support/agents/confined.sh', import.meta.url)), join(folder, 'bin', 'claude'));
  chmodSync(join(folder, 'bin', 'claude'), 0o755);
  for (let at = 0; at < FILES; at += 1) writeFileSync(join(workspace, `file-${at}`), `${at}\n`);
  writeFileSync(join(workspace, 'task.sh'), task);
  const env = { PATH: [join(folder, 'bin'), process.env.PATH ?? ''].join(delimiter), HOME: join(folder, 'user'), ABP_HOME: home };
  return { workspace, home, before: picture(workspace), serve: async () => await served(home, env) };
}

interface Served {
  readonly process: ServeProcess;
  readonly env: NodeJS.ProcessEnv;
  readonly key: readonly string[];
  run(workspace: string, sandbox: boolean): Promise<RunId>;
}

async function served(home: string, env: NodeJS.ProcessEnv): Promise<Served> {
  const server = await startServe(home, env);
  const key = ['x-abp-key', readFileSync(join(home, 'token'), 'utf8').trim()];
  const run = async (cwd: string, sandbox: boolean): Promise<RunId> => {
    const options = { agent: 'claude', prompt: 'x', engine: 'sim', approvalMode: 'yolo', cwd, workspace: { mode: 'staged' }, sandbox };
    const body = JSON.stringify(options);
    const answer = await call(`${server.url}/v1/runs`, { method: 'POST', headers: [...key, 'content-type', 'application/json'], body });
    const run = parseRunId(String(JSON.parse(answer.body.toString()).run_id));
    if (run === undefined) throw new Error(answer.body.toString());
    return run;
  };
  return { process: server, env, key, run };
}

const WORK = `for at in $(seq 200); do echo $at >> file-$at; rm file-$((at + 300)); mkdir new-$at; echo $at > new-$at/file; done; echo worked > result`;
const STAYING = `${WORK}; setsid sleep 600 & sleep 600`;

const recordOf = (home: string, run: RunId): { state?: string } => {
  const file = join(home, 'stages', run, 'stage.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
};
const until = async (isSo: () => boolean): Promise<void> => {
  for (const end = Date.now() + ROUND_MS / 2; !isSo(); await sleep(1)) if (Date.now() > end) throw new Error('it was never so');
};
const hasResult = (home: string, run: RunId): boolean => existsSync(join(home, 'stages', run, 'tree', 'result'));

/** Points in the life of a staged run at which something is killed, the task that comes there, and how that is seen. */
const POINTS = {
  staging: { task: STAYING, reached: (home: string, run: RunId) => recordOf(home, run).state === 'staging' },
  starting: { task: STAYING, reached: (_: string, run: RunId) => markedProcesses('ABP_RUN_ID', run).length > 0 },
  running: { task: STAYING, reached: hasResult },
  // The agent ends a moment after its result is there.
  diffing: { task: WORK, reached: hasResult },
} as const;

/** Every process is gone, the workspace is as it was, and the work comes back from the stage, if there is one, whole. */
async function expectIntact(where: { workspace: string; home: string; before: unknown }, run: RunId, worked: boolean): Promise<void> {
  await expect.poll(() => markedProcesses('ABP_RUN_ID', run), { timeout: ROUND_MS / 4 }).toEqual([]);
  expect(picture(where.workspace)).toEqual(where.before);
  const stage = Stage.open(join(where.home, 'stages'), run);
  if (stage === undefined && !worked) return;
  expect((await stage?.apply())?.conflicts).toEqual([]);
  expect(picture(where.workspace)).toEqual(picture(stage?.tree ?? ''));
  if (worked) expect(readdirSync(where.workspace)).toContain('result');
}

const ROOMS = [
  { room: 'in a room', sandbox: true, without: obstacle },
  { room: 'without a room', sandbox: false, without: NOT_LINUX },
] as const;

describe.each(ROOMS)('kill -9 of the server, the agent $room', ({ sandbox, without }) => {
  it.skipIf(without !== undefined).for(['staging', 'running', 'diffing'] as const)(
    needing(
      `while %s: the source is as it was, the stage is of use, the run has a receipt and no process is left, ${KILL_ROUNDS} times`,
      without,
    ),
    { timeout: KILL_ROUNDS * ROUND_MS },
    async (point) => {
      let met = 0;
      for (let round = 0; round < KILL_ROUNDS; round += 1) {
        const where = await place(POINTS[point].task);
        const first = await where.serve();
        const run = await first.run(where.workspace, sandbox);
        await until(() => POINTS[point].reached(where.home, run));
        await sleep((round * 13) % 110);
        await first.process.end('SIGKILL');
        const { state } = recordOf(where.home, run);
        if (state === (point === 'staging' ? 'staging' : 'open')) met += 1;
        // A guard ends an agent without a room; the next server tidies up behind both.
        const second = await where.serve();
        await expectIntact(where, run, point !== 'staging' || state === 'finished');
        expect(['failed', 'completed']).toContain((await receiptOf(second.process.url, run, second.key)).status);
        await second.process.end('SIGTERM');
      }
      expect(met).toBeGreaterThan(0);
    },
  );
});

/** Kills one of its processes, the room's own among them. One that stays is not ended by the death of a process beside it: then the others follow. */
async function killAgent(run: RunId, round: number, stays: boolean): Promise<void> {
  const pids = markedProcesses('ABP_RUN_ID', run);
  const victim = pids[round % Math.max(pids.length, 1)];
  if (victim !== undefined) sendSignal(victim, 'SIGKILL');
  if (!stays) return;
  await sleep(300);
  for (const pid of markedProcesses('ABP_RUN_ID', run)) sendSignal(pid, 'SIGKILL');
}

describe.each(ROOMS)('kill -9 of the agent $room', ({ sandbox, without }) => {
  it.skipIf(without !== undefined).for(['starting', 'running', 'diffing'] as const)(
    needing(`while %s: its run ends, the source is as it was, the stage is of use and no process is left, ${KILL_ROUNDS} times`, without),
    { timeout: KILL_ROUNDS * ROUND_MS },
    async (point) => {
      const where = await place(POINTS[point].task);
      const server = await where.serve();
      const original = join(where.home, '..', 'original');
      cpSync(where.workspace, original, { recursive: true });
      for (let round = 0; round < KILL_ROUNDS; round += 1) {
        const run = await server.run(where.workspace, sandbox);
        await until(() => POINTS[point].reached(where.home, run));
        await sleep((round * 13) % 110);
        const stays = point !== 'diffing';
        await killAgent(run, round, stays);
        const { status } = await receiptOf(server.process.url, run, server.key);
        expect(['failed', 'completed']).toContain(status);
        await expectIntact(where, run, point !== 'starting');
        rmSync(where.workspace, { recursive: true });
        cpSync(original, where.workspace, { recursive: true });
      }
    },
  );
});

describe.skipIf(NOT_LINUX !== undefined)(needing('kill -9 of abp apply beside a server', NOT_LINUX), () => {
  it(`leaves the source as it was or as it should become, ${KILL_ROUNDS} times`, { timeout: KILL_ROUNDS * ROUND_MS }, async () => {
    const where = await place(WORK);
    const server = await where.serve();
    const original = join(where.home, '..', 'original');
    cpSync(where.workspace, original, { recursive: true });
    for (let round = 0; round < KILL_ROUNDS; round += 1) {
      const run = await server.run(where.workspace, false);
      expect((await receiptOf(server.process.url, run, server.key)).status).toBe('completed');
      const stage = join(where.home, 'stages', run);
      const applying = spawnAbp(['apply', run], server.env);
      const ended = once(applying, 'close');
      await until(() => existsSync(join(stage, 'apply.json')) || applying.exitCode !== null);
      await sleep((round * 7) % 60);
      applying.kill('SIGKILL');
      await ended;
      await tidyStages(join(where.home, 'stages')).removal;
      const now = JSON.stringify(picture(where.workspace));
      expect([JSON.stringify(where.before), JSON.stringify(picture(join(stage, 'tree')))]).toContain(now);
      expect((await Stage.open(join(where.home, 'stages'), run)?.apply())?.conflicts).toEqual([]);
      expect(picture(where.workspace)).toEqual(picture(join(stage, 'tree')));
      rmSync(where.workspace, { recursive: true });
      cpSync(original, where.workspace, { recursive: true });
    }
  });
});

describe.skipIf(NOT_LINUX !== undefined)(needing('kill -9 of a sidecar', NOT_LINUX), () => {
  it(
    `fails its run, leaves the source alone and its stage to be applied, and no process, ${KILL_ROUNDS} times`,
    async () => {
      const server = await startGateway({ config: { sidecars: { worker: { command: [process.execPath, WORKER] } } } });
      onTestFinished(() => server.close());
      const api = new AgentApi(server).withToken();
      for (let round = 0; round < KILL_ROUNDS; round += 1) {
        const workspace = scratch();
        writeFileSync(join(workspace, 'before.txt'), 'before\n');
        const order = workOrder('work').workspace({ root: workspace }).build();
        const { body } = await api.call('POST', '/v1/work-orders?backend=sidecar:worker', order);
        const run = parseRunId(body.run_id);
        if (run === undefined) throw new Error('there is no run');
        const tree = join(server.home, 'stages', run, 'tree');
        await expect.poll(() => existsSync(join(tree, 'result.txt'))).toBe(true);
        // The sidecar and what it has started, in another group too.
        await sleep((round * 17) % 60);
        const isSidecar = (pid: number): boolean => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('working-sidecar');
        for (const pid of markedProcesses('ABP_RUN_ID', run).filter(isSidecar)) process.kill(pid, 'SIGKILL');
        const receipt = await receiptOf(server.url, run, ['x-abp-key', server.token]);
        expect(receipt).toMatchObject({ status: 'failed', change_set: { state: 'staged', added: 1 } });
        await expect.poll(() => markedProcesses('ABP_RUN_ID', run)).toEqual([]);
        expect(readdirSync(workspace)).toEqual(['before.txt']);
        expect((await Stage.open(join(server.home, 'stages'), run)?.apply())?.conflicts).toEqual([]);
        expect(readdirSync(workspace).toSorted()).toEqual(['before.txt', 'result.txt']);
      }
    },
    KILL_ROUNDS * ROUND_MS,
  );
});
