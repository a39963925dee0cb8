import { z } from 'zod';

/**
 * A backup is a gzipped tar: the manifest, every table of the database as lines of JSON in parts, the files of the home, and the account of
 * all of it at the end. A file without that account was cut off.
 */
export const FORMAT = 1;
export const MANIFEST = 'manifest.json';
export const ACCOUNT = 'account.json';
export const TABLES = 'tables/';
export const HOME = 'home/';

export const Manifest = z.object({
  format: z.number(),
  version: z.string(),
  created_at: z.string(),
  node: z.string(),
  database: z.enum(['sqlite', 'postgres']),
  /** Of the PostgreSQL database; earlier versions did not write it. */
  database_name: z.string().nullable().default(null),
  /** Steps of the schema that the database had taken. */
  migrations: z.array(z.string()),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
  left_out: z.array(z.string()),
});
export type Manifest = z.infer<typeof Manifest>;

export const Account = z.object({
  rows: z.record(z.string(), z.number()),
  files: z.number(),
  bytes: z.number(),
});
export type Account = z.infer<typeof Account>;
