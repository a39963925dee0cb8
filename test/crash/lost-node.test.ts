import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LateEnd } from '../../src/contract/receipts/late-end.ts';
import type { Receipt } from '../../src/contract/receipts/receipt.ts';
import { openHome } from '../../src/home/home.ts';
import { verifyStored } from '../../src/receipts/verify/verify-stored.ts';
import { openStore } from '../../src/store/database.ts';
import { chainOf } from '../../src/store/receipts/chain.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startSlowEngine } from './slow-engine.ts';

const script = fileURLToPath(new URL('./node-process.ts', import.meta.url));
const STREAMS = 20;
const body = (): string =>
  JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'go on' }] });

/** A node, and what can be done to it. */
interface NodeProcess {
  readonly id: string;
  readonly home: string;
  readonly url: string;
  readonly child: ChildProcess;
  get<T>(path: string): Promise<T>;
  post(path: string, body: object): Promise<void>;
  /** Begins streams; their runs, and how many bytes came of each in the end. */
  begin(streams: number): Promise<{ runs: string[]; whole: Promise<(string | undefined)[]> }>;
}

let postgres: TestPostgres;
let engine: Awaited<ReturnType<typeof startSlowEngine>>;
beforeAll(async () => {
  postgres = await startPostgres();
  engine = await startSlowEngine(50);
});
afterAll(async () => {
  engine?.close();
  await postgres?.stop();
});

function newHome(): string {
  const parent = mkdtempSync(join(tmpdir(), 'abp-lost-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, 'home');
}

async function startNode(databaseUrl: string, home = newHome()): Promise<NodeProcess> {
  const env = { PATH: process.env.PATH, ABP_HOME: home, ABP_DATABASE_URL: databaseUrl, ABP_LOG: 'error' };
  const engines = { ABP_ENGINE_CLAUDE_URL: engine.url, ABP_ENGINE_CLAUDE_KEY: 'sk-test' };
  const child = spawn(process.execPath, [script], { cwd: tmpdir(), env: { ...env, ...engines }, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(createInterface(child.stdout), 'line');
  const { url } = JSON.parse(String(line));
  const { token, nodeId } = openHome({ path: home });
  const get = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${url}${path}`, { headers: { 'x-abp-key': token } })).json()) as T;
  const post = async (path: string, what: object): Promise<void> => {
    const headers = { 'x-abp-key': token, 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(what) });
    expect([answer.status, await answer.text()]).toEqual([201, expect.anything()]);
  };
  const begin: NodeProcess['begin'] = async (streams) => {
    const answers = await Promise.all(
      Array.from({ length: streams }, () =>
        fetch(`${url}/e/claude/v1/messages`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: body() }),
      ),
    );
    const runs = answers.map(({ headers }) => headers.get('x-abp-run-id') ?? '');
    // A killed node cuts its streams.
    return { runs, whole: Promise.all(answers.map((answer) => answer.text().catch(() => undefined))) };
  };
  return { id: nodeId, home, url, child, get, post, begin };
}

const receiptsOf = async (node: NodeProcess, runs: readonly string[]): Promise<Receipt[]> =>
  await Promise.all(runs.map((run) => node.get<Receipt>(`/v1/receipts/${run}`)));
const statusesOf = async (node: NodeProcess, runs: readonly string[]): Promise<Set<string>> =>
  new Set((await receiptsOf(node, runs)).map(({ status }) => status));

/** What a node says was spent: by each budget, and by usage. */
async function spentBy(node: NodeProcess): Promise<object[]> {
  const { items } = await node.get<{ items: { spent: object; reserved: object }[] }>('/v1/budgets');
  const { groups } = await node.get<{ groups: { cost_nano_usd: number[]; tokens_in: number[]; tokens_out: number[]; runs: number[] }[] }>(
    '/v1/usage?metric=runs,cost,tokens&group_by=status',
  );
  return [
    ...items.flatMap(({ spent, reserved }) => [spent, reserved]),
    ...groups.map(({ runs, cost_nano_usd, tokens_in, tokens_out }) => [runs, cost_nano_usd, tokens_in, tokens_out]),
  ];
}

/** The same for calls that are over, each with ten tokens of input and thirty of output. */
function spentOn(calls: number): object[] {
  const nothing = { nano_usd: 0, tokens: 0, requests: 0 };
  const all = { nano_usd: calls * 480_000, tokens: calls * 40, requests: calls };
  return [all, nothing, all, nothing, [[calls], [calls * 480_000], [calls * 10], [calls * 30]]];
}

async function ended(node: NodeProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const exit = once(node.child, 'exit');
  node.child.kill(signal);
  await exit;
}

async function expectChain(databaseUrl: string, node: NodeProcess, receipts: number): Promise<void> {
  const store = await openStore({ url: databaseUrl, home: openHome({ path: mkdtempSync(join(tmpdir(), 'abp-look-')) }) });
  const chain = await chainOf(store, node.id);
  if (receipts > 0) expect(await verifyStored(store, chain)).toMatchObject({ ok: true, node: node.id, receipts });
  await store.close();
}

describe('of two nodes in processes of their own', () => {
  it('one is killed: the other closes its runs, and the restart of the first changes nothing', { timeout: 300_000 }, async () => {
    const databaseUrl = await postgres.freshDatabase();
    const [a, b] = await Promise.all([startNode(databaseUrl), startNode(databaseUrl)]);
    engine.hold();
    const { runs, whole } = await a.begin(STREAMS);
    // The other node knows them all, as running.
    await expect.poll(() => statusesOf(b, runs)).toEqual(new Set(['running']));
    a.child.kill('SIGKILL');
    expect(await whole).toEqual(Array.from({ length: STREAMS }, () => undefined));
    await expect.poll(() => statusesOf(b, runs)).toEqual(new Set(['failed']));
    engine.release();
    const closed = await receiptsOf(b, runs);
    const message = `the node ${a.id} that served this run was lost; the node ${b.id} closed the run`;
    expect(closed.map(({ reason, node, error }) => ({ reason, node, error }))).toEqual(
      closed.map(() => ({ reason: 'interrupted', node: a.id, error: { code: 'internal', message } })),
    );
    const again = await startNode(databaseUrl, a.home);
    expect(await receiptsOf(again, runs)).toEqual(closed);
    const next = await again.begin(2);
    await next.whole;
    await expect.poll(() => statusesOf(b, next.runs)).toEqual(new Set(['completed']));
    await expectChain(databaseUrl, a, 2);
    await expectChain(databaseUrl, b, STREAMS);
  });

  it('one is stopped for a while: its callers get whole answers, and its word is kept beside the receipts', {
    timeout: 300_000,
  }, async () => {
    const databaseUrl = await postgres.freshDatabase();
    const [a, b] = await Promise.all([startNode(databaseUrl), startNode(databaseUrl)]);
    const limits = { limit_nano_usd: 1e9, limit_tokens: 1e7, limit_requests: 1000 };
    await a.post('/v1/budgets', { on: { key: 'local' }, period: 'total', ...limits });
    await a.post('/v1/budgets', { on: { engine: 'claude' }, period: 'month', ...limits, action: 'warn' });
    engine.hold();
    const { runs, whole } = await a.begin(STREAMS);
    await expect.poll(() => statusesOf(b, runs)).toEqual(new Set(['running']));
    a.child.kill('SIGSTOP');
    await expect.poll(() => statusesOf(b, runs)).toEqual(new Set(['failed']));
    const closed = await receiptsOf(b, runs);
    // Until its node is back, a call counts with what it may have used.
    await expect.poll(() => spentBy(b)).toContainEqual({ nano_usd: expect.any(Number), tokens: expect.any(Number), requests: STREAMS });
    a.child.kill('SIGCONT');
    engine.release();
    for (const text of await whole) expect(text).toMatch(/event: message_stop\n/);
    const lateEnds = (): Promise<LateEnd[]> => Promise.all(runs.map((run) => b.get<LateEnd>(`/v1/receipts/${run}/late-end`)));
    await expect.poll(async () => (await lateEnds()).map(({ status }) => status)).toEqual(runs.map(() => 'completed'));
    for (const { node, usage } of await lateEnds()) expect([node, usage?.output_tokens]).toEqual([a.id, 30]);
    expect(await receiptsOf(b, runs)).toEqual(closed);
    const next = await a.begin(2);
    await next.whole;
    await expect.poll(() => statusesOf(b, next.runs)).toEqual(new Set(['completed']));
    // Nobody closes anything once everybody lives.
    await sleep(5500);
    await expectChain(databaseUrl, a, 2);
    await expectChain(databaseUrl, b, STREAMS);
    // What was used counts once, for whoever asks, and also after restarts.
    for (const node of [a, b]) await expect.poll(() => spentBy(node)).toEqual(spentOn(STREAMS + 2));
    await Promise.all([ended(a, 'SIGTERM'), ended(b, 'SIGKILL')]);
    const again = await Promise.all([startNode(databaseUrl, a.home), startNode(databaseUrl, b.home)]);
    for (const node of again) await expect.poll(() => spentBy(node)).toEqual(spentOn(STREAMS + 2));
  });
});
