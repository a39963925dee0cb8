import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { settleTurns } from '../../src/platform/turns/turn-settlement.ts';
import { intervene } from '../../src/store/agent-plane/intervention.ts';
import { deleteSession } from '../../src/store/agent-plane/sessions.ts';
import { listReceipts } from '../../src/store/receipts/receipts.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { callAbp } from '../support/run-abp.ts';
import { startServe } from '../support/serve.ts';

interface Begun {
  readonly agent: string;
  readonly session: string;
  readonly turn: string;
  readonly run: string;
}

async function made(url: string, path: string, body: object): Promise<Record<string, string>> {
  const answer = await post(`${url}${path}`, body);
  expect(answer.status).toBe(201);
  return JSON.parse(answer.body.toString());
}

async function begin(url: string, content: string): Promise<Begun> {
  const { id: agent = '' } = await made(url, '/v1/agents', { name: 'helper' });
  const { id: session = '' } = await made(url, '/v1/sessions', { agent_id: agent });
  const { turn_id: turn = '', run_id: run = '' } = await made(url, `/v1/sessions/${session}/messages`, { message: { content } });
  return { agent, session, turn, run };
}

test('a turn that outlives kill -9 has one receipt, of how it ended at last', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-turn-receipts-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const home = join(parent, 'home');
  const first = await startServe(home);
  const { run, session } = await begin(first.url, 'wait 1500 ms and say "at last"');
  const pending = await call(`${first.url}/v1/receipts/${run}`);
  expect(JSON.parse(pending.body.toString())).toMatchObject({ run_id: run, status: 'running' });
  await first.end('SIGKILL');
  const second = await startServe(home);
  const answer = await call(`${second.url}/v1/receipts/${run}?wait=60`);
  expect(JSON.parse(answer.body.toString())).toMatchObject({ run_id: run, status: 'completed', reason: null, event_count: 10 });
  const { items } = JSON.parse((await call(`${second.url}/v1/receipts?tag=session:${session}`)).body.toString());
  const calls = items.filter(({ parent_run_id: owner }: { parent_run_id: string | null }) => owner === run);
  expect(calls.map(({ status, reason }: Record<string, unknown>) => [status, reason])).toEqual([
    ['completed', null],
    ['failed', 'interrupted'],
  ]);
  await second.end('SIGTERM');
  expect(await callAbp(['receipt', 'verify', '--all', '--home', home])).toMatchObject({ code: 0 });
});

describe('a turn that ended without its receipt', () => {
  let server: TestGateway;
  beforeAll(async () => {
    server = await startGateway();
  });
  afterAll(() => server.close());

  const later = (): number => Date.now() + 1;
  const receipts = async (run: string): Promise<unknown[]> =>
    (await listReceipts(server.gateway.store, { plane: 'agent' })).items.filter(({ runId }) => runId === run).map(({ status }) => status);
  const running = async (content: string): Promise<Begun> => {
    const begun = await begin(server.url, content);
    await server.gateway.keeper.settled();
    expect(await receipts(begun.run)).toEqual(['running']);
    return begun;
  };

  test('gets it from its row, once', async () => {
    const { session, turn, run } = await running('wait 60000 ms');
    // What a process does that is killed right after its commit.
    const where = { sessionId: session, turnId: turn, at: Date.now(), origin: 'test' };
    const events = [{ type: 'turn.cancelled', data: {} }];
    await intervene(server.gateway.store, where, () => ({ events, status: 'cancelled', sessionStatus: 'idle' }));
    server.gateway.sessions.worker.hint(session);
    expect(await settleTurns(server.gateway.sessions.parts, later())).toBe(1);
    expect(await settleTurns(server.gateway.sessions.parts, later())).toBe(1);
    await server.gateway.keeper.settled();
    expect(await settleTurns(server.gateway.sessions.parts, later())).toBe(0);
    expect(await receipts(run)).toEqual(['cancelled']);
    expect(await receiptOf(server.url, run)).toMatchObject({ reason: null, event_count: 6, seal: { sequence: expect.any(Number) } });
  });

  test('gets it when its session went away under it', async () => {
    const { session, run } = await running('wait 2000 ms');
    await deleteSession(server.gateway.store, session);
    expect(await settleTurns(server.gateway.sessions.parts, later())).toBe(1);
    await server.gateway.keeper.settled();
    expect(await receiptOf(server.url, run)).toMatchObject({ status: 'cancelled', reason: 'deleted' });
  });

  test('is none when its agent is deleted by the server: the turn is cancelled first', async () => {
    const { agent, session, run } = await running('wait 60000 ms');
    const workspace = join(server.home, 'workspaces', session);
    mkdirSync(workspace, { recursive: true });
    expect((await call(`${server.url}/v1/agents/${agent}`, { method: 'DELETE' })).status).toBe(204);
    expect((await call(`${server.url}/v1/agents/${agent}`, { method: 'DELETE' })).status).toBe(204);
    expect(await receiptOf(server.url, run)).toMatchObject({ status: 'cancelled', reason: null });
    expect(existsSync(workspace)).toBe(false);
  });

  test('is left alone while it runs', async () => {
    const { session, run } = await running('wait 60000 ms');
    expect(await settleTurns(server.gateway.sessions.parts, later())).toBe(0);
    expect(await receipts(run)).toEqual(['running']);
    expect((await post(`${server.url}/v1/sessions/${session}/cancel`, {})).status).toBe(200);
  });
});
