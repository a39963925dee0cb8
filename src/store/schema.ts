import type { z } from 'zod';
import type { Parts } from '../contract/receipts/parts.ts';
import type { RECEIPT_FIELDS } from '../contract/receipts/receipt-fields.ts';
import type { AgentPlaneTables } from './agent-plane/agent-plane-schema.ts';
import type { AuditTables } from './audit/audit-schema.ts';
import type { BudgetTables } from './budgets/budget-schema.ts';
import type { NoticeTables } from './notices/notice-schema.ts';
import type { PeopleTables } from './people/people-schema.ts';
import type { ChainTables } from './receipts/chain-schema.ts';
import type { MarkTables } from './receipts/mark-schema.ts';
import type { RecordingTables } from './recordings/recording-schema.ts';
import type { RunTables } from './runs/run-schema.ts';
import type { UsageTables } from './usage/usage-schema.ts';

/** Columns both databases hold alike: ids and JSON are text, times are whole milliseconds since the epoch. */
export interface Tables
  extends AgentPlaneTables,
    AuditTables,
    BudgetTables,
    ChainTables,
    MarkTables,
    NoticeTables,
    PeopleTables,
    RecordingTables,
    RunTables,
    UsageTables {
  readonly keys: KeysTable;
  readonly receipts: ReceiptsTable;
  readonly journal_positions: JournalPositionsTable;
  readonly settings: SettingsTable;
}

export interface KeysTable {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly hash: string;
  readonly prefix: string;
  readonly scopes: string;
  readonly recording: string | null;
  readonly tags: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly run_id: string | null;
  /** When its secret was last replaced. */
  readonly rotated_at: number | null;
  /** When it was last shown, to within a minute. */
  readonly last_used_at: number | null;
  /** Made of the rest with the secret of the home; without the right one the row is no key. */
  readonly mac: string | null;
}

type NullOf<Z> = Z extends z.ZodType ? Extract<z.infer<Z>, null> : never;
type Column<R> = R extends { readonly column: infer C; readonly schema: (parts: Parts) => infer Z }
  ? (C extends 'time' ? number : string) | NullOf<Z>
  : R extends { readonly parts: infer P }
    ? Column<P[keyof P]>
    : never;

/** The columns that rows of the receipt's table name: what lists and permissions look at without reading the document. */
export type ReceiptColumns = {
  readonly [K in keyof typeof RECEIPT_FIELDS as [Column<(typeof RECEIPT_FIELDS)[K]>] extends [never] ? never : K]: Column<
    (typeof RECEIPT_FIELDS)[K]
  >;
};

export interface ReceiptsTable extends ReceiptColumns {
  /** The 32 hex digits of the run's UUIDv7. */
  readonly run_id: string;
  readonly revision: number;
  /** The chain and the place in it; null until the run has ended. */
  readonly chain: number | null;
  readonly sequence: number | null;
  readonly document: string;
}

interface JournalPositionsTable {
  readonly segment: string;
  readonly node: string;
  readonly position: number;
  readonly updated_at: number;
}

interface SettingsTable {
  readonly name: string;
  readonly value: string;
}
