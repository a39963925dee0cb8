import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Config } from '../src/gateway/config.ts';
import { startServer } from '../src/gateway/server.ts';
import { openHome } from '../src/home/home.ts';
import { TableParts } from '../src/receipts/keeper/table-parts.ts';
import { Followers } from '../src/receipts/usage/followers.ts';
import { openStore } from '../src/store/database.ts';
import type { Store } from '../src/store/store.ts';
import { runAt } from '../test/store/receipt-fixture.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { insertSealed, sealedCall } from '../test/usage/calls.ts';
import { type BenchReport, judge, spread } from './harness.ts';

const MANY = Number(process.env.ABP_BENCH_RECEIPTS ?? 1_000_000);
const MOST_MS = 200;
const DAYS = 30;
const DAY_MS = 24 * 3_600_000;
const CHUNK = 1000;
const SAMPLES = 9;
const ENGINES = ['claude', 'openai', 'gemini', 'sim'];
const PARENT = 'run_0192f3a0c1d27b7e8f00112233445566';

/** Four engines, twenty models, thirty keys, ten tags, a failure in fifty, and here and there what lists are asked for because it is rare. */
function call(index: number, end: number): ReturnType<typeof sealedCall> {
  const engine = ENGINES[index % 4] ?? 'sim';
  const rare = index % 100_000 === 11;
  const at = end - DAYS * DAY_MS + Math.floor((index / MANY) * DAYS * DAY_MS);
  const said = sealedCall(
    {
      at,
      engine,
      model: rare ? 'claude-rare' : `${engine}-${index % 5}`,
      keyId: `key_${(index * 7) % 30}`,
      mode: index % 3 === 0 ? 'mapped' : 'passthrough',
      tags: rare ? ['team-rare'] : index % 2 === 0 ? [`team-${index % 10}`] : [],
      nanoUsd: rare ? 9_000_000_000 : engine === 'sim' ? null : 1000 + (index % 977),
      firstByteMs: 20 + ((index * 31) % 4000),
      ...(index % 50 === 7 ? { status: 'failed', error: index % 100 === 7 ? 'E007' : 'engine_failed' } : {}),
    },
    index + 1,
  );
  const members = rare ? RARE : { task: `POST /v1/messages → ${engine}` };
  return { ...said, runId: runAt(at), document: { ...said.document, ...members } };
}

const RARE = { task: 'Repair the lighthouse', fidelity: [{ path: 'b', fate: 'refused' }], parent_run_id: PARENT };

async function seed(store: Store, end: number): Promise<void> {
  // As a server that ran all the time has made them.
  for (let days = DAYS; days >= 0; days -= 7) await new TableParts(store, DAYS).look(end - days * DAY_MS);
  for (let from = 0; from < MANY; from += CHUNK) {
    const some = Array.from({ length: Math.min(CHUNK, MANY - from) }, (_, at) => call(from + at, end));
    await insertSealed(store, some);
  }
  await new Followers(store, 1).catchUp();
  // As its own daemon does after a while.
  if (store.kind === 'postgres') await sql`analyze`.execute(store.db);
}

const since = (end: number): string => encodeURIComponent(new Date(end - DAYS * DAY_MS).toISOString());

/** What is asked, over HTTP as everybody does. */
function questions(end: number, run: string, sequence: number): readonly (readonly [string, string])[] {
  const rows = '/v1/runs?view=row&limit=50';
  return [
    ['list', rows],
    ['filter: failed', `${rows}&status=failed`],
    ['filter: engine', `${rows}&engine=gemini`],
    ['filter: a rare model', `${rows}&model=claude-rare`],
    ['filter: a model that nobody used', `${rows}&model=none`],
    ['filter: key', `${rows}&key=key_7`],
    ['filter: tag', `${rows}&tag=team-4`],
    ['filter: a rare tag', `${rows}&tag=team-rare`],
    ['filter: parent', `${rows}&parent=${PARENT}`],
    ['filter: fate dropped', `${rows}&fate=dropped`],
    ['filter: fate refused, which is rare', `${rows}&fate=refused`],
    ['filter: cost of a dollar and more', `${rows}&min_cost_nano_usd=1000000000`],
    ['filter: cost that most have', `${rows}&min_cost_nano_usd=1500`],
    ['filter: text', `${rows}&q=lighthouse`],
    ['filter: text that is nowhere', `${rows}&q=nowhere`],
    ['filter: error code', `${rows}&reason=E007`],
    ['usage of a day', '/v1/usage'],
    ['usage of 30 days by key', `/v1/usage?group_by=key&since=${since(end)}`],
    ['usage of 30 days by model and day', `/v1/usage?group_by=engine,model&bucket=1d&since=${since(end)}`],
    ['usage of 30 days by tag', `/v1/usage?group_by=tag&since=${since(end)}`],
    ['usage of 30 days by error', `/v1/usage?group_by=error&metric=runs&since=${since(end)}`],
    ['read one', `/v1/receipts/${run}`],
    ['verify one', `/v1/receipts/verify?from=${sequence}&to=${sequence}`],
    ['proof of one', `/v1/receipts/${run}/proof`],
  ];
}

interface Told {
  readonly what: string;
  readonly ms: number;
  readonly most: number;
}

async function ask(url: string, token: string): Promise<{ readonly ms: number; readonly headers: Headers; readonly text: string }> {
  const started = performance.now();
  const answer = await fetch(url, { headers: { 'x-abp-key': token } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return { ms: performance.now() - started, headers: answer.headers, text };
}

/** Every question in one database, asked of a server over HTTP. */
async function measure(url: string | undefined, folder: string): Promise<{ readonly told: readonly Told[]; readonly seedS: number }> {
  const home = openHome({ path: join(folder, url === undefined ? 'sqlite' : 'postgres') });
  const end = Date.now();
  const started = performance.now();
  const store = await openStore({ home, ...(url === undefined ? {} : { url }) });
  await seed(store, end);
  await store.close();
  const seedS = (performance.now() - started) / 1000;
  const config = Config.parse({ server: { port: 0 }, ...(url === undefined ? {} : { database: { url } }) });
  const server = await startServer({ config, home, version: '0', log: pino({ level: 'silent' }) });
  try {
    const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
    const called = await fetch(`${server.url}/e/sim/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const run = called.headers.get('x-abp-run-id') ?? '';
    const { text } = await ask(`${server.url}/v1/receipts/${run}?wait=30`, home.token);
    const { seal } = JSON.parse(text) as { seal: { sequence: number } }; // our own answer
    const told: Told[] = [];
    for (const [what, path] of questions(end, run, seal.sequence)) {
      const samples: number[] = [];
      for (let at = 0; at < SAMPLES; at += 1) samples.push((await ask(`${server.url}${path}`, home.token)).ms);
      const { median, max } = spread(samples);
      told.push({ what, ms: median, most: max });
    }
    return { told, seedS };
  } finally {
    await server.close();
  }
}

/** How long lists, sums and proofs take in a database that has had a million receipts. */
export async function benchManyReceipts(): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'abp-many-receipts-'));
  const postgres = await startPostgres();
  try {
    const sqlite = await measure(undefined, folder);
    const shared = await measure(await postgres.freshDatabase(), folder);
    const slowest = (told: readonly Told[]): Told => told.toSorted((a, b) => b.ms - a.ms)[0] ?? { what: '', ms: 0, most: 0 };
    const findings = [
      { database: 'SQLite', one: slowest(sqlite.told) },
      { database: 'PostgreSQL', one: slowest(shared.told) },
    ].map(({ database, one }) => ({
      what: `the slowest question on ${database}: ${one.what}`,
      figure: `${one.ms.toFixed(0)} ms`,
      target: `≤ ${MOST_MS} ms`,
      verdict: judge(one.ms, MOST_MS),
    }));
    return {
      title: 'Many receipts',
      method: `${MANY.toLocaleString('en')} receipts of ${DAYS} days in one database, put there directly (${sqlite.seedS.toFixed(0)} s on SQLite, ${shared.seedS.toFixed(0)} s on PostgreSQL, sums and marks included), then asked for over HTTP on the same machine: medians and maxima of ${SAMPLES} requests, the first one cold. Ten receipts in a million are rare ones: a model, a tag, a text, a parent, a fate and a price that no other has.`,
      findings,
      table: [
        ['question', 'SQLite, ms', 'most', 'PostgreSQL, ms', 'most'],
        ...sqlite.told.map(({ what, ms, most }, at) => {
          const other = shared.told[at];
          return [what, ms.toFixed(1), most.toFixed(1), (other?.ms ?? 0).toFixed(1), (other?.most ?? 0).toFixed(1)];
        }),
      ],
    };
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
