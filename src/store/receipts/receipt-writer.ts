import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { CompiledQuery } from 'kysely';
import type { PostgresStore, SqliteStore, Store } from '../store.ts';
import { type ChainAddition, chainMoved } from './chain.ts';
import { type NewReceipt, RECEIPT_COLUMNS, runKey } from './receipt-columns.ts';
import { dayOfRun } from './run-days.ts';

/** How far a journal segment has been drained. */
export interface JournalMark {
  readonly segment: string;
  readonly node: string;
  readonly position: number;
}

/** One batch: rows as they are made, the journal position they bring us to, and what they add to the chain once all are made. */
export interface ReceiptBatch {
  readonly receipts: Iterable<NewReceipt>;
  readonly mark: JournalMark;
  /** Called when every row has been taken; undefined when none of them was sealed. */
  readonly sealed?: () => ChainAddition | undefined;
}

const columns = [...RECEIPT_COLUMNS];
const sources = columns.map(([, column]) => column.value);
const names = columns.map(([name]) => name).join(', ');
/** The bytes of a document are bound as they are; the column holds text. */
const placeholders = columns.map(([name]) => (name === 'document' ? 'cast(? as text)' : '?')).join(', ');
const updates = columns
  .filter(([name]) => name !== 'run_id')
  .map(([name]) => `${name} = excluded.${name}`)
  .join(', ');
const onReceiptConflict = (key: string): string =>
  `on conflict (${key}) do update set ${updates} where excluded.revision > receipts.revision`;

/** Drains of a segment may be repeated after a crash; the mark only moves forward. */
const onMarkConflict =
  'on conflict (segment) do update set node = excluded.node, position = excluded.position, updated_at = excluded.updated_at ' +
  'where excluded.position > journal_positions.position';

interface SqliteStatements {
  readonly begin: StatementSync;
  readonly commit: StatementSync;
  readonly receipt: StatementSync;
  readonly position: StatementSync;
  readonly tip: StatementSync;
  readonly head: StatementSync;
}

function sqliteStatements(database: DatabaseSync): SqliteStatements {
  return {
    begin: database.prepare('begin immediate'),
    commit: database.prepare('commit'),
    receipt: database.prepare(`insert into receipts (${names}) values (${placeholders}) ${onReceiptConflict('run_id')}`),
    position: database.prepare(`insert into journal_positions (segment, node, position, updated_at) values (?, ?, ?, ?) ${onMarkConflict}`),
    tip: database.prepare('update chains set sequence = ?, hash = ? where number = ? and sequence = ? and hash = ?'),
    head: database.prepare('insert into chain_heads (chain, sequence, document) values (?, ?, ?)'),
  };
}

const sqliteWriters = new WeakMap<SqliteStore, SqliteStatements>();

function statementsOf(store: SqliteStore): SqliteStatements {
  const statements = sqliteWriters.get(store) ?? sqliteStatements(store.sqlite);
  sqliteWriters.set(store, statements);
  return statements;
}

async function saveOnSqlite(store: SqliteStore, batch: ReceiptBatch): Promise<void> {
  await store.exclusive(() => {
    const statements = statementsOf(store);
    statements.begin.run();
    try {
      writeOnSqlite(statements, batch);
      statements.commit.run();
    } catch (error) {
      if (store.sqlite.isTransaction) store.sqlite.exec('rollback');
      throw isTaken(error) ? chainMoved() : error;
    }
  });
}

function writeOnSqlite({ receipt, position, tip, head }: SqliteStatements, { receipts, mark, sealed }: ReceiptBatch): void {
  const values = new Array<ReturnType<(typeof sources)[number]>>(sources.length);
  for (const one of receipts) {
    for (let at = 0; at < sources.length; at += 1) values[at] = sources[at]?.(one) ?? null;
    const { changes } = receipt.run(...values);
    if (changes === 0 && one.sequence !== null) throw chainMoved();
  }
  const added = sealed?.();
  if (added !== undefined) {
    const { chain, before, after } = added;
    if (tip.run(after.sequence, after.hash, chain, before.sequence, before.hash).changes !== 1) throw chainMoved();
    for (const one of added.heads) head.run(chain, one.sequence, one.document);
  }
  position.run(mark.segment, mark.node, mark.position, Date.now());
}

/**
 * One statement, hence one transaction and one round trip. Arrays instead of value lists: no limit on the number of rows. When a sealed
 * row was not taken or the chain has moved, the last division is by zero and undoes the whole statement.
 */
const postgresInsert = (() => {
  const types = [...columns.map(([, column]) => column.type), 'int'];
  const arrays = types.map((type, index) => `$${index + 13}::${type}[]`).join(', ');
  return (
    `with saved as (insert into receipts (${names}, day) select * from unnest(${arrays}) ${onReceiptConflict('run_id, day')} returning sequence), ` +
    'moved as (update chains set sequence = $6, hash = $7 where number = $5 and sequence = $8 and hash = $9 returning 1), ' +
    'signed as (insert into chain_heads (chain, sequence, document) select $5, * from unnest($10::bigint[], $11::text[])), ' +
    `marked as (insert into journal_positions (segment, node, position, updated_at) values ($1, $2, $3, $4) ${onMarkConflict}) ` +
    'select 1 / (case when (select count(sequence) from saved) = $12::bigint ' +
    'and ($12::bigint = 0 or (select count(*) from moved) = 1) then 1 else 0 end)'
  );
})();
const DIVISION_BY_ZERO = '22012';
const UNIQUE_VIOLATION = '23505';
const SQLITE_CONSTRAINT_UNIQUE = 2067;
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555;

/** A place in the chain that another process has given away. */
function isTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('errcode' in error) return error.errcode === SQLITE_CONSTRAINT_UNIQUE || error.errcode === SQLITE_CONSTRAINT_PRIMARYKEY;
  return 'code' in error && (error.code === DIVISION_BY_ZERO || error.code === UNIQUE_VIOLATION);
}

/** PostgreSQL refuses to touch a row twice in one statement; rows in key order keep two nodes from deadlocking. */
function newestPerRun(receipts: Iterable<NewReceipt>): readonly NewReceipt[] {
  const newest = new Map<string, NewReceipt>();
  for (const receipt of receipts) {
    const known = newest.get(receipt.runId);
    if (known === undefined || receipt.revision > known.revision) newest.set(receipt.runId, receipt);
  }
  return [...newest.values()].sort((a, b) => (a.runId < b.runId ? -1 : 1));
}

/** PostgreSQL's client takes bytes for another type than text. */
function textual(value: string | number | Buffer | null): string | number | null {
  return Buffer.isBuffer(value) ? value.toString('utf8') : value;
}

async function saveOnPostgres(store: PostgresStore, { receipts, mark, sealed }: ReceiptBatch): Promise<void> {
  const rows = newestPerRun(receipts);
  const { chain = null, before, after, heads = [] } = sealed?.() ?? {};
  const parameters = [
    ...[mark.segment, mark.node, mark.position, Date.now()],
    ...[chain, after?.sequence ?? null, after?.hash ?? null, before?.sequence ?? null, before?.hash ?? null],
    ...[heads.map(({ sequence }) => sequence), heads.map(({ document }) => document)],
    rows.filter(({ sequence }) => sequence !== null).length,
    ...columns.map(([, column]) => rows.map((row) => textual(column.value(row)))),
    rows.map(({ runId }) => dayOfRun(runKey(runId))),
  ];
  await store.db.executeQuery(CompiledQuery.raw(postgresInsert, parameters)).catch((error: unknown) => {
    throw isTaken(error) ? chainMoved() : error;
  });
}

/**
 * Saves a batch, what it adds to the chain, and the journal position it brings us to: all or nothing. A receipt replaces the stored
 * one only with a greater revision, so a batch may be saved twice; one that is sealed must find its place free.
 */
export async function saveReceipts(store: Store, batch: ReceiptBatch): Promise<void> {
  if (store.kind === 'sqlite') await saveOnSqlite(store, batch);
  else await saveOnPostgres(store, batch);
}
