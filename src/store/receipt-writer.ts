import type { DatabaseSync } from 'node:sqlite';
import { CompiledQuery } from 'kysely';
import { type NewReceipt, RECEIPT_COLUMNS } from './receipt-columns.ts';
import type { PostgresStore, SqliteStore, Store } from './store.ts';

/** How far a journal segment has been drained. */
export interface JournalMark {
  readonly segment: string;
  readonly node: string;
  readonly position: number;
}

const columns = Object.entries(RECEIPT_COLUMNS);
const sources = Object.values(RECEIPT_COLUMNS).map((column) => column.value);
const names = columns.map(([name]) => name).join(', ');
const updates = columns
  .filter(([name]) => name !== 'run_id')
  .map(([name]) => `${name} = excluded.${name}`)
  .join(', ');
const onReceiptConflict = `on conflict (run_id) do update set ${updates} where excluded.revision > receipts.revision`;

/** Drains of a segment may be repeated after a crash; the mark only moves forward. */
const onMarkConflict =
  'on conflict (segment) do update set node = excluded.node, position = excluded.position, updated_at = excluded.updated_at ' +
  'where excluded.position > journal_positions.position';

type SqliteWriter = (receipts: Iterable<NewReceipt>, mark: JournalMark) => void;

function sqliteWriter(database: DatabaseSync): SqliteWriter {
  const begin = database.prepare('begin immediate');
  const commit = database.prepare('commit');
  const receipt = database.prepare(`insert into receipts (${names}) values (${columns.map(() => '?').join(', ')}) ${onReceiptConflict}`);
  const position = database.prepare(
    `insert into journal_positions (segment, node, position, updated_at) values (?, ?, ?, ?) ${onMarkConflict}`,
  );
  return (receipts, mark) => {
    begin.run();
    try {
      for (const one of receipts) receipt.run(...sources.map((source) => source(one)));
      position.run(mark.segment, mark.node, mark.position, Date.now());
      commit.run();
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      throw error;
    }
  };
}

const sqliteWriters = new WeakMap<SqliteStore, SqliteWriter>();

async function saveOnSqlite(store: SqliteStore, receipts: Iterable<NewReceipt>, mark: JournalMark): Promise<void> {
  await store.exclusive(() => {
    const write = sqliteWriters.get(store) ?? sqliteWriter(store.sqlite);
    sqliteWriters.set(store, write);
    write(receipts, mark);
  });
}

/** One statement, hence one transaction and one round trip. Arrays instead of value lists: no limit on the number of rows. */
const postgresInsert = (() => {
  const arrays = columns.map(([, column], index) => `$${index + 5}::${column.type}[]`).join(', ');
  return (
    `with saved as (insert into receipts (${names}) select * from unnest(${arrays}) ${onReceiptConflict}) ` +
    `insert into journal_positions (segment, node, position, updated_at) values ($1, $2, $3, $4) ${onMarkConflict}`
  );
})();

/** PostgreSQL refuses to touch a row twice in one statement; rows in key order keep two nodes from deadlocking. */
function newestPerRun(receipts: Iterable<NewReceipt>): readonly NewReceipt[] {
  const newest = new Map<string, NewReceipt>();
  for (const receipt of receipts) {
    const known = newest.get(receipt.runId);
    if (known === undefined || receipt.revision > known.revision) newest.set(receipt.runId, receipt);
  }
  return [...newest.values()].sort((a, b) => (a.runId < b.runId ? -1 : 1));
}

async function saveOnPostgres(store: PostgresStore, receipts: Iterable<NewReceipt>, mark: JournalMark): Promise<void> {
  const rows = newestPerRun(receipts);
  const arrays = columns.map(([, column]) => rows.map(column.value));
  await store.db.executeQuery(CompiledQuery.raw(postgresInsert, [mark.segment, mark.node, mark.position, Date.now(), ...arrays]));
}

/**
 * Saves a batch and the journal position it brings us to, both or neither. A receipt replaces the stored one only with a greater
 * revision, so a batch may be saved twice.
 */
export async function saveReceipts(store: Store, receipts: Iterable<NewReceipt>, mark: JournalMark): Promise<void> {
  if (store.kind === 'sqlite') await saveOnSqlite(store, receipts, mark);
  else await saveOnPostgres(store, receipts, mark);
}
