/** Tables about recorded runs. Their bodies and the index of those are on the disk of each node. */
export interface RecordingTables {
  readonly recordings: RecordingsTable;
  readonly erasures: ErasuresTable;
}

/** Bodies that are to be erased by the node that has them. */
interface ErasuresTable {
  readonly run_id: string;
  readonly node: string;
  readonly asked_at: number;
}

/** A run with recording `full`. The document is the truth; the other columns are copies for the index. */
export interface RecordingsTable {
  /** The 32 hex digits of the run's UUIDv7. */
  readonly run_id: string;
  /** The node whose disk has the bodies. */
  readonly node: string;
  readonly recorded_at: number;
  readonly key_id: string | null;
  readonly tags: string;
  readonly engine: string | null;
  readonly dialect: string | null;
  /** Dialect of what the engine got; null where it got the caller's bytes. */
  readonly sent_dialect: string | null;
  readonly replayable: number;
  readonly document: string;
}
