import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { markedProcesses } from '../../src/base/process-table.ts';
import { Confiner, isObstacle } from '../../src/confinement/confiner.ts';
import { newRunId, parseRunId, type RunId } from '../../src/contract/run-id.ts';
import { workOrder } from '../../src/contract/work-orders/work-order.ts';
import { Stage, tidyStages } from '../../src/runtime/workspaces/stages.ts';
import { walkTree } from '../../src/runtime/workspaces/tree.ts';
import { KILL_ROUNDS, ROUND_MS } from '../crash/size.ts';
import { AgentApi } from '../support/agent-api.ts';
import { startGateway } from '../support/gateway.ts';
import { NOT_LINUX, needing } from '../support/needs.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { spawnAbp } from '../support/run-abp.ts';
import { startServe } from '../support/serve.ts';

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
        tidyStages(stages);
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

describe.skipIf(obstacle !== undefined)(needing('kill -9 of the server', obstacle), () => {
  it(
    `ends the agent in its room, and leaves its stage to be applied, ${KILL_ROUNDS} times`,
    async () => {
      for (let round = 0; round < KILL_ROUNDS; round += 1) {
        const folder = scratch();
        const [workspace, home] = [join(folder, 'workspace'), join(folder, 'home')];
        for (const name of ['workspace', 'bin', 'user']) mkdirSync(join(folder, name));
        copyFileSync(fileURLToPath(new URL('../support/agents/confined.sh', import.meta.url)), join(folder, 'bin', 'claude'));
        chmodSync(join(folder, 'bin', 'claude'), 0o755);
        writeFileSync(join(workspace, 'task.sh'), 'echo worked > result; setsid sleep 600 & sleep 600');
        const env = { PATH: [join(folder, 'bin'), process.env.PATH ?? ''].join(delimiter), HOME: join(folder, 'user'), ABP_HOME: home };
        const server = await startServe(home, env);
        const client = spawnAbp(
          ['run', 'claude', 'x', '--engine', 'sim', '--approval', 'yolo', '--staged', '--sandbox', '--json', '--cwd', workspace],
          env,
        );
        onTestFinished(() => void client.kill('SIGKILL'));
        const run = await stageWithResult(home);
        await server.end('SIGKILL');
        client.kill('SIGKILL');
        await expect.poll(() => markedProcesses('ABP_RUN_ID', run)).toEqual([]);
        expect(readdirSync(workspace)).toEqual(['task.sh']);
        const stage = Stage.open(join(home, 'stages'), run);
        expect((await stage?.apply())?.conflicts).toEqual([]);
        expect(readdirSync(workspace)).toContain('result');
      }
    },
    KILL_ROUNDS * ROUND_MS,
  );
});

describe.skipIf(NOT_LINUX !== undefined)(needing('kill -9 of the agent', NOT_LINUX), () => {
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

/** Waits until the agent has written its result into its stage. */
async function stageWithResult(home: string): Promise<RunId> {
  const stages = join(home, 'stages');
  await expect
    .poll(() => (existsSync(stages) ? readdirSync(stages) : []).some((run) => existsSync(join(stages, run, 'tree', 'result'))))
    .toBe(true);
  const run = parseRunId(readdirSync(stages)[0] ?? '');
  if (run === undefined) throw new Error('the stage has no run');
  return run;
}
