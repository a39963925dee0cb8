/** Records of the audit log that no entry of the chain holds yet. */
export interface AuditTables {
  readonly audit_pending: AuditPendingTable;
}

/** Written before what it tells of is done, and gone with the entry of the chain that holds it. */
export interface AuditPendingTable {
  readonly id: string;
  readonly node: string;
  readonly at: number;
  /** The record as JSON, without its end. */
  readonly record: string;
  /** Null until it is known how it ended. */
  readonly outcome: string | null;
  readonly target: string | null;
  readonly error: string | null;
}
