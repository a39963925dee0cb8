import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LateEnd } from '../../src/contract/receipts/late-end.ts';
import type { Receipt } from '../../src/contract/receipts/receipt.ts';
import { openHome } from '../../src/home/home.ts';
import { verifyStored } from '../../src/receipts/verify/verify-stored.ts';
import { openStore } from '../../src/store/database.ts';
import { listChains } from '../../src/store/receipts/chain.ts';
import { call } from '../support/http-call.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { startSlowEngine } from './slow-engine.ts';

const script = fileURLToPath(new URL('./node-process.ts', import.meta.url));
const NODES = 3;
const STREAMS = 60;
/** The engine says 10 tokens in and 30 out: three and fifteen dollars for a million. */
const COST = 10 * 3000 + 30 * 15_000;
const LIMIT_REQUESTS = 400;
const LIMIT_NANO_USD = 300 * COST;
/** Of a request with at most 100 tokens out and fewer than 200 in. */
const WORST_CASE = 100 * 15_000 + 200 * 3000;

interface FleetNode {
  readonly home: string;
  url: string;
  child: ChildProcess;
}

let postgres: TestPostgres;
let engine: Awaited<ReturnType<typeof startSlowEngine>>;
beforeAll(async () => {
  postgres = await startPostgres();
  engine = await startSlowEngine(5);
});
afterAll(async () => {
  engine?.close();
  await postgres?.stop();
});

/** Starts a node on its home, and again after it has ended. */
async function start(node: Pick<FleetNode, 'home'>, databaseUrl: string): Promise<FleetNode> {
  const env = { PATH: process.env.PATH, ABP_HOME: node.home, ABP_DATABASE_URL: databaseUrl, ABP_LOG: 'error' };
  const shared = {
    ABP_KEY_SECRET: 'a secret that all homes know, long enough',
    ABP_ENGINE_CLAUDE_URL: engine.url,
    ABP_ENGINE_CLAUDE_KEY: 'k',
  };
  const child = spawn(process.execPath, [script], { cwd: tmpdir(), env: { ...env, ...shared }, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(createInterface(child.stdout), 'line');
  return Object.assign(node, { url: JSON.parse(String(line)).url, child });
}

async function startFleet(databaseUrl: string): Promise<FleetNode[]> {
  const parent = mkdtempSync(join(tmpdir(), 'abp-fleet-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return await Promise.all(Array.from({ length: NODES }, (_, at) => start({ home: join(parent, `home-${at}`) }, databaseUrl)));
}

async function control<T>({ url, home }: FleetNode, method: string, path: string, body?: object): Promise<T> {
  const headers = ['x-abp-key', openHome({ path: home }).token, 'content-type', 'application/json'];
  const answer = await call(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  expect([answer.status, String(answer.body)]).toEqual([expect.toSatisfy((status: number) => status < 300), expect.any(String)]);
  return JSON.parse(String(answer.body));
}

interface Outcome {
  readonly status: number;
  readonly run: string;
  readonly whole: boolean;
}

function ask(url: string, key: string, agent: http.Agent): Promise<Outcome> {
  const body = JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: randomUUID() }],
  });
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length, 'x-abp-key': key };
    const request = http.request(`${url}/e/claude/v1/messages`, { method: 'POST', headers, agent }, (response) => {
      response.resume();
      response.on('error', () => undefined);
      const { statusCode: status = 0, headers: got } = response;
      response.once('close', () => resolve({ status, run: String(got['x-abp-run-id']), whole: response.complete }));
    });
    request.once('error', reject);
    request.end(body);
  });
}

/** Clients that go to the nodes in turn, and to the next one where a node does not answer whole. */
function startClients(nodes: readonly FleetNode[], keys: readonly string[], until: (outcome: Outcome) => boolean) {
  let over = false;
  const [whole, failures]: [string[], unknown[]] = [[], []];
  const agent = new http.Agent({ keepAlive: true });
  const tried = async (at: number, key: string): Promise<Outcome> => {
    const outcome = await ask(nodes[at % NODES]?.url ?? '', key, agent);
    if (!outcome.whole) throw new Error('the answer was cut');
    return outcome;
  };
  const client = async (first: number): Promise<void> => {
    const key = keys[first % keys.length] ?? '';
    for (let at = first, done = false; !over && !done; at += 1) {
      const outcome = await tried(at, key)
        .catch(() => tried(at + 1, key))
        .catch((error: unknown) => void failures.push(error));
      if (outcome?.status === 200) whole.push(outcome.run);
      done = outcome !== undefined && until(outcome);
    }
  };
  const ended = Promise.all(Array.from({ length: STREAMS }, (_, at) => client(at))).finally(() => agent.destroy());
  return {
    whole,
    failures,
    stop: async () => {
      over = true;
      await ended;
    },
    ended,
  };
}

interface Accounts {
  readonly receipts: ReadonlyMap<string, Receipt>;
  readonly lateEnds: ReadonlyMap<string, LateEnd>;
}

/** Everything that the database holds, once every run has ended in it; all chains verify. */
async function accountsOf(databaseUrl: string): Promise<Accounts> {
  const folder = mkdtempSync(join(tmpdir(), 'abp-look-'));
  process.env.ABP_KEY_SECRET = 'a secret that all homes know, long enough';
  const store = await openStore({ url: databaseUrl, home: openHome({ path: folder }) });
  try {
    const open = async (): Promise<number> =>
      (await store.db.selectFrom('receipts').select('run_id').where('completed_at', 'is', null).execute()).length;
    await expect.poll(open, { timeout: 120_000 }).toBe(0);
    const receipts = (await store.db.selectFrom('receipts').select('document').execute()).map((row): Receipt => JSON.parse(row.document));
    const late = (await store.db.selectFrom('late_ends').select('document').execute()).map((row): LateEnd => JSON.parse(row.document));
    for (const chain of await listChains(store)) expect(await verifyStored(store, chain)).toMatchObject({ ok: true });
    expect(new Set(receipts.map(({ run_id }) => run_id)).size).toBe(receipts.length);
    return {
      receipts: new Map(receipts.map((receipt) => [receipt.run_id, receipt])),
      lateEnds: new Map(late.map((end) => [end.run_id, end])),
    };
  } finally {
    await store.close();
    delete process.env.ABP_KEY_SECRET;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every call of the engine has one receipt, and every whole answer one that says so, or the late word of its own node. */
function expectNothingLost({ receipts, lateEnds }: Accounts, whole: readonly string[], asked: ReadonlySet<string>): void {
  const sent = new Map<string, number>();
  for (const { upstream_request: request } of receipts.values()) {
    if (request !== null) sent.set(request?.sha256 ?? '', (sent.get(request?.sha256 ?? '') ?? 0) + 1);
  }
  expect([...asked].filter((sha256) => sent.get(sha256) !== 1)).toEqual([]);
  const lost = whole.filter((run) => receipts.get(run)?.status !== 'completed' && lateEnds.get(run)?.status !== 'completed');
  expect(lost).toEqual([]);
}

describe('three nodes on one PostgreSQL, under load', () => {
  it('lose no receipt and hold their budgets when one of them is killed', { timeout: 600_000 }, async () => {
    const databaseUrl = await postgres.freshDatabase();
    const nodes = await startFleet(databaseUrl);
    const [first, second] = nodes as [FleetNode, FleetNode];
    const before = new Set(engine.asked);
    const limits = [{ limit_requests: LIMIT_REQUESTS }, { limit_nano_usd: LIMIT_NANO_USD }];
    const keys: { id: string; secret: string }[] = [];
    for (const limit of limits) {
      const key = await control<{ id: string; secret: string }>(first, 'POST', '/v1/keys', { name: `held ${keys.length}` });
      const { id } = await control<{ id: string }>(first, 'POST', '/v1/budgets', { on: { key: key.id }, period: 'total', ...limit });
      for (const node of nodes)
        await expect
          .poll(async () => (await control<{ items: { id: string }[] }>(node, 'GET', '/v1/budgets')).items.some((one) => one.id === id))
          .toBe(true);
      keys.push(key);
    }
    let refused = 0;
    // A client whose budget is used up on a node that is not alone with it goes on for a while.
    const clients = startClients(
      nodes,
      keys.map(({ secret }) => secret),
      ({ status }) => status === 429 && ++refused > 40 * STREAMS,
    );
    await expect.poll(() => clients.whole.length, { timeout: 120_000 }).toBeGreaterThan(100);
    second.child.kill('SIGKILL');
    const atKill = clients.whole.length;
    await expect.poll(() => clients.whole.length, { timeout: 120_000 }).toBeGreaterThan(atKill + 60);
    await start(second, databaseUrl);
    await expect.poll(() => refused, { timeout: 240_000 }).toBeGreaterThan(STREAMS);
    await clients.stop();
    const accounts = await accountsOf(databaseUrl);
    expectNothingLost(accounts, clients.whole, new Set([...engine.asked].filter((sha256) => !before.has(sha256))));
    // A refused call has a receipt, too, and reached no engine.
    const served = (run: Receipt): boolean => engine.asked.has(run.upstream_request?.sha256 ?? '');
    const ofKey = (key: string): Receipt[] => [...accounts.receipts.values()].filter((run) => run.key_id === key && served(run));
    expect(ofKey(keys[0]?.id ?? '').length).toBeLessThanOrEqual(LIMIT_REQUESTS + 1);
    const spent = ofKey(keys[1]?.id ?? '').reduce((sum, { cost }) => sum + (cost?.nano_usd ?? 0), 0);
    expect(spent).toBeGreaterThan(0);
    expect(spent).toBeLessThanOrEqual(LIMIT_NANO_USD + WORST_CASE);
    process.stdout.write(
      `${clients.whole.length} whole answers, ${accounts.receipts.size} receipts, ${accounts.lateEnds.size} late ends; calls ${ofKey(keys[0]?.id ?? '').length} of ${LIMIT_REQUESTS}, spent ${Math.round((spent / LIMIT_NANO_USD) * 100)} %\n`,
    );
  });

  it('are restarted one after the other, and a client that tries once more sees no error', { timeout: 600_000 }, async () => {
    const databaseUrl = await postgres.freshDatabase();
    const nodes = await startFleet(databaseUrl);
    const before = new Set(engine.asked);
    const { secret } = await control<{ secret: string }>(nodes[0] as FleetNode, 'POST', '/v1/keys', { name: 'rolling' });
    const clients = startClients(nodes, [secret], () => false);
    for (const node of nodes) {
      const served = clients.whole.length;
      await expect.poll(() => clients.whole.length, { timeout: 120_000 }).toBeGreaterThan(served + 60);
      const exit = once(node.child, 'exit');
      node.child.kill('SIGTERM');
      expect(await exit).toEqual([0, null]);
      await start(node, databaseUrl);
    }
    const served = clients.whole.length;
    await expect.poll(() => clients.whole.length, { timeout: 120_000 }).toBeGreaterThan(served + 60);
    await clients.stop();
    expect(clients.failures).toEqual([]);
    expectNothingLost(await accountsOf(databaseUrl), clients.whole, new Set([...engine.asked].filter((sha256) => !before.has(sha256))));
    process.stdout.write(`${clients.whole.length} whole answers, 0 errors\n`);
  });
});
