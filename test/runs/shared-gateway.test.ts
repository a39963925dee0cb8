import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn as spawnTerminal } from '@lydell/node-pty';
import { expect, it, onTestFinished } from 'vitest';
import { identityOf } from '../../src/base/process-table.ts';
import { AttachedRuns } from '../../src/gateway/run-plane/attached-runs.ts';
import { openRunGateway } from '../../src/gateway/run-plane/run-gateway.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { ABP_BIN } from '../support/built.ts';
import { callAbp } from '../support/run-abp.ts';

/** Longer than a gateway that nobody uses stays for latecomers. */
const LATE_MS = 1500;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-shared-gateway-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

it('the gateway of a command stays while another command uses it, and the next command has one of its own', async () => {
  const homePath = newFolder();
  let waits = 0;
  const first = await openRunGateway({
    homePath,
    onWaiting: () => {
      waits += 1;
    },
  });
  const second = await openRunGateway({ homePath });
  expect([first.inside === undefined, second.inside === undefined]).toEqual([false, true]);
  let closed = false;
  const closing = first.close().then(() => {
    closed = true;
  });
  // Between finding the gateway and its first run a command asks its agent for the version, which takes as long as it takes.
  await sleep(LATE_MS);
  const offer = await second.port.offer({ engine: 'sim', model: undefined, dialect: 'claude', dialects: ['claude'] });
  expect([offer.engine, closed]).toEqual(['sim', false]);
  await expect.poll(() => waits).toBe(1);
  await second.close();
  await closing;
  const third = await openRunGateway({ homePath });
  expect(third.inside).toBeDefined();
  await third.close();
});

it('nobody waits for a process that was killed, and a server that ends takes nobody', async () => {
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => undefined, 1000)']);
  const owner = identityOf(child.pid ?? 0) ?? expect.fail();
  const attached = new AttachedRuns({
    closing: new AbortController().signal,
    end: async () => undefined,
    drop: async () => undefined,
    onFault: (error) => expect.fail(String(error)),
  });
  expect(attached.visit('a', owner)).toBe(true);
  expect(attached.shut()).toBe(false);
  child.kill('SIGKILL');
  await attached.idle();
  expect(attached.shut()).toBe(true);
  expect(attached.visit('b', owner)).toBe(false);
});

it('six abp launch at once on a home that nobody has used, without a server, all show their agent and leave receipts', async () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'user'));
  const env = { PATH: fakeCommand(join(folder, 'bin'), 'claude'), ABP_HOME: join(folder, 'home'), HOME: join(folder, 'user') };
  const launched = (at: number): Promise<{ code: number; text: string }> =>
    new Promise((resolve) => {
      const args = [ABP_BIN, 'launch', 'claude', `say "number ${at}"`, '--engine', 'sim'];
      const terminal = spawnTerminal(process.execPath, args, { cwd: folder, env, cols: 120, rows: 30 });
      let text = '';
      terminal.onData((piece) => {
        text += piece;
      });
      terminal.onExit(({ exitCode: code }) => resolve({ code, text }));
    });
  const screens = await Promise.all([1, 2, 3, 4, 5, 6].map(launched));
  screens.forEach(({ code, text }, at) => {
    expect(text).toContain(`number ${at + 1}`);
    expect(text).toMatch(/claude ended · [\d,]+ tokens · run_[0-9a-f]{32}/);
    expect(code).toBe(0);
  });
  expect((await callAbp(['receipts', 'verify', '--all'], { env })).code).toBe(0);
  const listed = await callAbp(['receipts', 'list', '--plane', 'run', '--json'], { env });
  expect((JSON.parse(listed.out) as { items: { status: string }[] }).items.map(({ status }) => status)).toEqual(Array(6).fill('completed'));
});
