import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AbpClient, type RemoteRun } from '../../src/client/client.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import type { RunOptions } from '../../src/contract/runs/run-options.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let server: TestGateway;
let folder: string;
let abp: AbpClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-remote-run-'));
  server = await startGateway();
  abp = new AbpClient({ url: server.url, key: server.token });
});

afterAll(async () => {
  await abp.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function started(prompt: string, more: Partial<RunOptions> = {}): Promise<RemoteRun> {
  const env = { PATH: fakeCommand(join(folder, 'bin'), 'claude') };
  return await abp.startRun({ agent: 'claude', prompt, cwd: folder, engine: 'sim', env, ...more });
}

/** The id of the first question. */
async function asked(run: RemoteRun): Promise<string> {
  for await (const event of run) if (event.type === 'approval_request') return event.interactionId;
  throw new Error('nothing was asked');
}

it('gives events and result, also to a caller who comes later by the id', async () => {
  const run = await started('say hello', { projectId: 'apollo' });
  const types = [];
  for await (const { type } of run) types.push(type);
  expect(types).toEqual(expect.arrayContaining(['session_start', 'message_stop', 'session_end']));
  expect(await abp.run(run.runId).result()).toMatchObject({ runId: run.runId, exitReason: 'completed', projectId: 'apollo' });
  expect(await run.view()).toMatchObject({ status: 'completed', state: null, interactions: [] });
});

it('answers, queues and steers', async () => {
  const run = await started('ask', { approvalMode: 'prompt' });
  const id = await asked(run);
  await run.queue('Say banana');
  await expect(run.respond('other', { approve: true })).rejects.toMatchObject({ code: 'INTERACTION_NOT_FOUND' });
  await run.respond(id, { approve: false, reason: 'no' });
  expect((await run.result()).text).toMatch(/permission: deny.*banana$/s);
  await expect(run.steer('left')).rejects.toMatchObject({ code: 'RUN_NOT_ACTIVE' });
});

it('interrupts, holds and continues', async () => {
  const run = await started('ask', { approvalMode: 'prompt' });
  await asked(run);
  await run.interrupt({ hold: true });
  expect(await run.view()).toMatchObject({ state: 'interrupted' });
  await run.continue('Say cherry');
  expect(await run.result()).toMatchObject({ exitReason: 'completed', text: expect.stringContaining('cherry') });
});

it('pauses, resumes and aborts', async () => {
  const run = await started('wait');
  for await (const { type } of run) if (type === 'session_start') break;
  await run.pause();
  expect(await run.view()).toMatchObject({ state: 'paused' });
  await run.resume();
  await expect(run.resume()).rejects.toMatchObject({ code: 'INVALID_STATE_TRANSITION' });
  await run.abort();
  expect(await run.result()).toMatchObject({ exitReason: 'aborted' });
});

it('starts a run of its own id once', async () => {
  const runId = newRunId();
  const run = await started('say hello', { runId });
  expect(run.runId).toBe(runId);
  await expect(started('say hello', { runId })).rejects.toMatchObject({ code: 'conflict', details: { path: `/v1/runs/${runId}` } });
  await run.result();
});
