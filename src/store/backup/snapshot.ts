/** Every column is a text or a number in both databases. */
export type Value = string | number | null;
export type Row = readonly Value[];

/** A table of a database, as it was at one moment. */
export interface TableSnapshot {
  readonly name: string;
  readonly columns: readonly string[];
  /** Its rows, some hundreds at a time. */
  batches(): AsyncIterable<readonly Row[]>;
}

/** A whole database at one moment, whatever is written to it meanwhile. */
export interface Snapshot {
  /** The name of the PostgreSQL database; undefined for SQLite. */
  readonly database: string | undefined;
  /** The steps of the schema that it has taken, in order. */
  readonly migrations: readonly string[];
  /** Parents come before the tables whose rows refer to them. */
  readonly tables: readonly TableSnapshot[];
  close(): Promise<void>;
}

/** How many rows are read and written at a time. */
export const BATCH_ROWS = 250;

/** Tables in which Kysely notes the steps that were taken. */
export const STEP_TABLES = ['kysely_migration', 'kysely_migration_lock'] as const;

/** The names in an order in which each comes after those that it refers to. */
export function parentsFirst(names: readonly string[], parentsOf: (name: string) => readonly string[]): string[] {
  const ordered = new Set<string>();
  const visit = (name: string, above: readonly string[]): void => {
    if (ordered.has(name) || above.includes(name)) return;
    for (const parent of parentsOf(name)) if (names.includes(parent)) visit(parent, [...above, name]);
    ordered.add(name);
  };
  for (const name of names) visit(name, []);
  return [...ordered];
}

/** A name inside a statement. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
