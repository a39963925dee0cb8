// How long GET /v1/usage takes with a million receipts, which are put into a new home directly: `node bench/usage.ts [receipts]`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageQuery } from '../src/gateway/api/run-rows.ts';
import { findRows } from '../src/gateway/rows/find-rows.ts';
import { usageOf } from '../src/gateway/rows/usage.ts';
import { openHome } from '../src/home/home.ts';
import { RollUp } from '../src/receipts/usage/roll-up.ts';
import { openStore } from '../src/store/database.ts';
import { insertSealed, sealedCall } from '../test/usage/calls.ts';

const MANY = Number(process.argv[2] ?? 1_000_000);
const DAYS = 30;
const DAY = 24 * 3_600_000;
const CHUNK = 1000;
const ENGINES = ['claude', 'openai', 'gemini', 'sim'];

const folder = mkdtempSync(join(tmpdir(), 'abp-usage-'));
const store = await openStore({ home: openHome({ path: join(folder, 'home') }) });
const end = Date.now();

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  console.log(`${name}: ${(performance.now() - started).toFixed(1)} ms`);
  return result;
}

/** Four engines, twenty models, thirty keys, ten tags and one failure in fifty, evenly over thirty days. */
function call(index: number): ReturnType<typeof sealedCall> {
  const engine = ENGINES[index % 4] ?? 'sim';
  const failed = index % 50 === 7;
  return sealedCall(
    {
      at: end - DAYS * DAY + Math.floor((index / MANY) * DAYS * DAY),
      engine,
      model: `${engine}-${index % 5}`,
      keyId: `key_${(index * 7) % 30}`,
      mode: index % 3 === 0 ? 'mapped' : 'passthrough',
      tags: index % 2 === 0 ? [`team-${index % 10}`] : [],
      nanoUsd: engine === 'sim' ? null : 1000 + (index % 977),
      firstByteMs: 20 + ((index * 31) % 4000),
      ...(failed ? { status: 'failed', error: index % 100 === 7 ? 'E007' : 'engine_failed' } : {}),
    },
    index + 1,
  );
}

await timed(`insert ${MANY} receipts`, async () => {
  for (let from = 0; from < MANY; from += CHUNK)
    await insertSealed(
      store,
      Array.from({ length: Math.min(CHUNK, MANY - from) }, (_, at) => call(from + at)),
    );
});
await timed('add them up', async () => {
  const rollUp = new RollUp(store, 1);
  let sequence = -1;
  for (;;) {
    await rollUp.look();
    const row = await store.db.selectFrom('usage_positions').select('sequence').executeTakeFirst();
    if (row?.sequence === MANY || row?.sequence === sequence) break;
    sequence = row?.sequence ?? 0;
  }
});
const { rows } = await store.db
  .selectFrom('usage_rollups')
  .select((eb) => eb.fn.countAll<number>().as('rows'))
  .executeTakeFirstOrThrow();
console.log(`rows of sums: ${rows}`);

const since = (days: number): string => new Date(end - days * DAY).toISOString();
const QUESTIONS = [
  {},
  { group_by: 'engine', bucket: '1h' },
  { group_by: 'key', since: since(30), metric: 'cost,tokens,runs,first_byte,total' },
  { group_by: 'engine,model', since: since(30), bucket: '1d', metric: 'cost,tokens,runs,first_byte' },
  { group_by: 'tag', since: since(30) },
  { group_by: 'error', since: since(30), metric: 'runs' },
  { group_by: 'engine', since: since(30), bucket: '1h', metric: 'runs,cost' },
];
for (const question of QUESTIONS) {
  const query = UsageQuery.parse(question);
  await usageOf(store, query, {});
  const found = await timed(`usage ${JSON.stringify(question)}`, () => usageOf(store, query, {}));
  if (found.groups.length === 0) throw new Error('nothing was counted');
}
await timed('a page of 60 rows', () => findRows(store, {}, 60));
await timed('a page of 60 failed rows', () => findRows(store, { status: 'failed' }, 60));
await store.close();
rmSync(folder, { recursive: true, force: true });
