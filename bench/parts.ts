import { CompiledQuery, type Kysely, sql } from 'kysely';
import { TableParts } from '../src/receipts/keeper/table-parts.ts';
import { removeReceipts } from '../src/receipts/remove.ts';
import { dropEmptyPart, listParts } from '../src/store/databases/parts.ts';
import { openPostgres } from '../src/store/databases/postgres.ts';
import { dayAt } from '../src/store/receipts/run-days.ts';
import type { Tables } from '../src/store/schema.ts';
import type { PostgresStore } from '../src/store/store.ts';
import { sealedHome } from '../test/receipts/sealed-home.ts';
import { runAt } from '../test/store/receipt-fixture.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { type BenchReport, type Finding, spread } from './harness.ts';

const MANY = Number(process.env.ABP_BENCH_RECEIPTS ?? 1_000_000);
const ROUNDS = 9;
const BATCH = 500;
const BATCHES = 20;
const ARCHIVED = 5000;
const DAY_MS = 24 * 3_600_000;
const BEFORE = '0017-receipt-marks';

interface Spent {
  readonly ms: number;
  /** Bytes of PostgreSQL's log. */
  readonly log: number;
}

async function spent(db: Kysely<Tables>, work: () => Promise<unknown>): Promise<Spent> {
  const place = async (): Promise<number> =>
    Number((await sql<{ at: string }>`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as at`.execute(db)).rows[0]?.at);
  const [before, started] = [await place(), performance.now()];
  await work();
  return { ms: performance.now() - started, log: (await place()) - before };
}

/** Rows as receipts are, 2 KB each, of one day of the past, made by PostgreSQL itself. */
async function fill(db: Kysely<Tables>, at: number, divided: boolean): Promise<void> {
  const prefix = at.toString(16).padStart(12, '0');
  await sql`insert into receipts (run_id, revision, plane, status, engine, model, key_id, started_at, completed_at, tags, document, chain, sequence
      ${divided ? sql`, day` : sql``})
    select ${prefix} || lpad(to_hex(n), 20, '0'), 2, 'gateway', 'completed', 'sim', 'm', 'key_1', ${at}::bigint + n / 100, ${at}::bigint + n / 100, '[]',
      (select string_agg(md5(n::text || k), '') from generate_series(1, 60) as k), 1, n ${divided ? sql`, ${sql.lit(dayAt(at))}` : sql``}
    from generate_series(1, ${MANY}::bigint) as n`.execute(db);
}

/** One batch of the keeper as it was written before tables were divided, and as it is written now. */
function insertion(divided: boolean): string {
  const names = 'run_id, revision, plane, status, started_at, tags, document';
  const arrays = '$1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[]';
  const conflict = (key: string): string =>
    `on conflict (${key}) do update set revision = excluded.revision where excluded.revision > receipts.revision`;
  return divided
    ? `insert into receipts (${names}, day) select * from unnest(${arrays}, $8::int[]) ${conflict('run_id, day')}`
    : `insert into receipts (${names}) select * from unnest(${arrays}) ${conflict('run_id')}`;
}

async function insertBatches(db: Kysely<Tables>, divided: boolean): Promise<number> {
  const text = 'x'.repeat(2000);
  const started = performance.now();
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const now = Date.now();
    const rows = Array.from({ length: BATCH }, () => runAt(now).slice('run_'.length)).toSorted();
    const columns = [rows, ...[1, 'gateway', 'running', now, '[]', text].map((value) => rows.map(() => value))];
    const parameters = divided ? [...columns, rows.map(() => dayAt(now))] : columns;
    await db.executeQuery(CompiledQuery.raw(insertion(divided), parameters));
  }
  return ((performance.now() - started) * 1000) / (BATCH * BATCHES);
}

/** What the keeper needs for one receipt whose content goes: its stub, its marks and its place in an entry of the chain. */
async function archive(url: string): Promise<number> {
  const home = await sealedHome(url);
  try {
    const at = Date.now() - 40 * DAY_MS;
    await new TableParts(home.store, 30).look(at);
    for (let batch = 0; batch < ARCHIVED; batch += BATCH)
      await home.sealRuns(
        Array.from({ length: BATCH }, () => runAt(at)),
        { at },
        { at },
      );
    const started = performance.now();
    const runs = await removeReceipts(home.store, home.chain, { status: 'archived', reason: 'retention', endedBefore: at + 1 });
    return ((performance.now() - started) * 1000) / runs.length;
  } finally {
    await home.close();
  }
}

/** Bytes of the table and all its parts. */
async function sizeOf(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{
    bytes: string;
  }>`select sum(pg_total_relation_size(relid))::text as bytes from pg_partition_tree('receipts')`.execute(db);
  const { rows: one } = await sql<{ bytes: string }>`select pg_total_relation_size('receipts')::text as bytes`.execute(db);
  return Number(rows[0]?.bytes ?? one[0]?.bytes);
}

/** Every receipt becomes a stub of 600 bytes, in its place or in the part for stubs. */
const stubs = (divided: boolean): ReturnType<typeof sql> =>
  sql`update receipts set status = 'archived', key_id = null, revision = revision + 1, document = left(document, 600) ${divided ? sql`, day = 0` : sql``}
    where status = 'completed'`;

/** What retention costs PostgreSQL in one table, and where a part of it is dropped; what parts cost those who write. */
export async function benchParts(): Promise<BenchReport> {
  const server = await startPostgres();
  try {
    const at = Date.now() - 40 * DAY_MS;
    const whole = await openPostgres(await server.freshDatabase(), { upTo: BEFORE });
    const divided = await openPostgres(await server.freshDatabase());
    const store = divided as PostgresStore; // no key is read
    for (const time of [at, Date.now()]) await new TableParts(store, 30).look(time);
    const inserts: { readonly before: number[]; readonly now: number[] } = { before: [], now: [] };
    await fill(whole.db, at, false);
    await fill(divided.db, at, true);
    for (let round = 0; round < ROUNDS; round += 1) {
      inserts.before.push(await insertBatches(whole.db, false));
      inserts.now.push(await insertBatches(divided.db, true));
    }
    const part = (await listParts(store, 'receipts')).find(({ from }) => from === dayAt(at));
    if (part === undefined) throw new Error('no part');
    const sizes = [await sizeOf(whole.db), await sizeOf(divided.db)];
    const steps = [
      await spent(whole.db, () => stubs(false).execute(whole.db)),
      await spent(whole.db, () => sql`vacuum receipts`.execute(whole.db)),
      await spent(divided.db, () => stubs(true).execute(divided.db)),
      await spent(divided.db, async () => {
        if (!(await dropEmptyPart(store, 'receipts', part))) throw new Error('the part was not dropped');
      }),
    ] as const;
    const after = [await sizeOf(whole.db), await sizeOf(divided.db)];
    // The same without stubs: what is gone altogether.
    await sql`truncate receipts`.execute(divided.db);
    await new TableParts(store, 30).look(at);
    await fill(divided.db, at, true);
    const deleted = await spent(divided.db, () => sql`delete from receipts where day = ${dayAt(at)}`.execute(divided.db));
    await sql`truncate receipts`.execute(divided.db);
    await fill(divided.db, at, true);
    const dropped = await spent(divided.db, () => sql`drop table ${sql.id(part.name)}`.execute(divided.db));
    await Promise.all([whole.close(), divided.close()]);
    return report({ inserts, steps, sizes, after, deleted, dropped, archived: await archive(await server.freshDatabase()) });
  } finally {
    await server.stop();
  }
}

interface Measured {
  readonly inserts: { readonly before: readonly number[]; readonly now: readonly number[] };
  readonly steps: readonly [Spent, Spent, Spent, Spent];
  readonly sizes: readonly number[];
  readonly after: readonly number[];
  readonly deleted: Spent;
  readonly dropped: Spent;
  readonly archived: number;
}

function report({ inserts, steps, sizes, after, deleted, dropped, archived }: Measured): BenchReport {
  const [before, now] = [spread(inserts.before).median, spread(inserts.now).median];
  const ratio = spread(inserts.now.map((one, round) => one / (inserts.before[round] ?? one))).median;
  const gb = (bytes = 0): string => `${(bytes / 1e9).toFixed(2)} GB`;
  const row = (what: string, { ms, log }: Spent): string[] => [what, (ms / 1000).toFixed(2), (log / 1e6).toFixed(1)];
  const many = MANY.toLocaleString('en');
  const finding = (what: string, figure: string): Finding => ({ what, figure, target: '', verdict: 'no target' });
  return {
    title: 'Parts',
    method: `PostgreSQL with ${many} receipts of 2 KB of one day, in one table as up to step 0017 of the schema, and in parts by day. All become stubs of 600 bytes. Inserts: medians of ${ROUNDS} alternating rounds of ${BATCHES} batches of ${BATCH} rows of 2 KB.`,
    findings: [
      finding(
        `deleting ${many} rows, to dropping the part that holds them`,
        `${(deleted.ms / 1000).toFixed(1)} s to ${dropped.ms.toFixed(0)} ms`,
      ),
      finding('on the disk before and after: one table', `${gb(sizes[0])}, ${gb(after[0])}`),
      finding('on the disk before and after: parts', `${gb(sizes[1])}, ${gb(after[1])}`),
      finding('an insert into parts to one into one table', `${ratio.toFixed(2)} (${now.toFixed(0)} µs to ${before.toFixed(0)} µs a row)`),
      finding('the keeper archives a receipt: stub, marks, place in an entry of the chain', `${archived.toFixed(0)} µs`),
    ],
    table: [
      ['step', 's', 'MB of log'],
      row('one table: stubs in the place of receipts', steps[0]),
      row('one table: vacuum', steps[1]),
      row('parts: stubs move to their own', steps[2]),
      row('parts: the emptied part is dropped', steps[3]),
      row('delete rows', deleted),
      row('drop a part with its rows', dropped),
    ],
  };
}
