import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeCommand } from '../support/agents/command.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readyDatabase } from '../support/postgres.ts';
import type { RecordingUpstream } from '../support/recording-upstream.ts';
import { type Ask, RACED_WAYS, type RacedWay, type RaceMeasure, startRacedEngine } from './budget-race-ways.ts';
import { adminCall, COST } from './priced-engine.ts';

/** `npm run crash` has every way at full size; `npm test` has the first one, and few turns and runs, which take the most time. */
const isFull = process.env.ABP_CRASH === 'all';

/** As long as the ways themselves wait for turns and runs: 200 programs at once take a while on a busy machine. */
const MOST_MS = 300_000;

/** How many calls come at once, and how many of them the budget is for. */
function sizeOf(way: RacedWay): { readonly calls: number; readonly allowed: number } {
  if (isFull || way === RACED_WAYS[0]) return { calls: 200, allowed: 50 };
  return way.slow ? { calls: 8, allowed: 2 } : { calls: 40, allowed: 10 };
}

const EACH: Readonly<Record<RaceMeasure, number>> = { requests: 1, tokens: 50, nano_usd: COST };

interface Cell {
  readonly name: string;
  readonly measure: RaceMeasure;
  readonly way: RacedWay;
}

const CELLS: readonly Cell[] = RACED_WAYS.flatMap((way) => way.measures.map((measure) => ({ name: way.name, measure, way })));

/** On several nodes a measure other than calls makes no difference to the way, so that one way stands for all in `npm test`. */
function cellsOf(many: number): readonly Cell[] {
  return CELLS.filter(({ way, measure }) => isFull || measure === 'requests' || (!way.slow && (many === 1 || way === RACED_WAYS[0])));
}

describe.each([
  { kind: 'one node on SQLite', many: 1 },
  { kind: 'two nodes on one PostgreSQL', many: 2 },
])('calls at once against a budget for a quarter of them, $kind', ({ many }) => {
  const nodes: TestGateway[] = [];
  const prepared = new Map<Cell, { readonly budget: string; readonly ask: Ask }>();
  let engine: RecordingUpstream;
  let folder: string;
  const kept = { PATH: process.env.PATH, ABP_KEY_SECRET: process.env.ABP_KEY_SECRET };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'abp-race-'));
    process.env.PATH = fakeCommand(join(folder, 'bin'), 'claude');
    process.env.ABP_KEY_SECRET = 'a secret that both homes know, long enough';
    engine = await startRacedEngine();
    const databaseUrl = many > 1 ? await readyDatabase() : undefined;
    const options = {
      engines: { claude: { url: engine.url, key: 'k' }, openai: { url: engine.url, key: 'k' } },
      config: { auth: { local: false }, runs: { roots: [folder] } },
      ...(databaseUrl === undefined ? {} : { databaseUrl }),
    };
    for (let at = 0; at < many; at += 1) nodes.push(await startGateway(options));
    for (const cell of cellsOf(many)) prepared.set(cell, await prepare(cell));
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    for (const [name, value] of Object.entries(kept)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await engine?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const nodeAt = (at: number): TestGateway => nodes[at % many] ?? expect.fail();
  const admin = async (node: TestGateway, method: string, path: string, body?: object) =>
    JSON.parse(String((await adminCall(node, method, path, body)).body));

  /** A key with a budget of its own. */
  async function prepare({ way, measure }: Cell): Promise<{ budget: string; ask: Ask }> {
    const scopes = { raw: true, planes: ['gateway', 'agent', 'run'] };
    const { id: key, secret } = await admin(nodeAt(0), 'POST', '/v1/keys', { name: 'held', scopes });
    const terms = { on: { key }, period: 'month', [`limit_${measure}`]: sizeOf(way).allowed * EACH[measure] };
    const { id: budget } = await admin(nodeAt(0), 'POST', '/v1/budgets', terms);
    return { budget, ask: await way.prepare(secret, nodeAt(0), folder) };
  }

  it.each(cellsOf(many))('$name, counted in $measure: at most one call more is sent and settled', { timeout: MOST_MS }, async (cell) => {
    const { calls, allowed } = sizeOf(cell.way);
    const { budget, ask } = prepared.get(cell) ?? expect.fail();
    // The other node hears of it a little later.
    await expect.poll(() => nodes.every((node) => node.gateway.budgets.ledger.accounts.has(budget))).toBe(true);
    const before = engine.requests.length;
    const ends = await Promise.all(Array.from({ length: calls }, (_, at) => ask(nodeAt(at))));
    const sent = engine.requests.length - before;
    expect(sent).toBe(ends.filter((end) => end === 'answered').length);
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThanOrEqual(allowed + 1);
    const spent = (): Promise<number[]> =>
      Promise.all(nodes.map(async (node) => (await admin(node, 'GET', `/v1/budgets/${budget}`)).spent[cell.measure]));
    await expect.poll(spent).toEqual(nodes.map(() => sent * EACH[cell.measure]));
  });
});
