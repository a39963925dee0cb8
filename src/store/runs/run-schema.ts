/** Runs of coding agents and everything they said. */
export interface RunTables {
  readonly runs: RunsTable;
  readonly run_cancels: RunCancelsTable;
  readonly run_events: RunEventsTable;
}

export interface RunsTable {
  /** The 32 hex digits of the run's UUIDv7. */
  readonly run_id: string;
  readonly plane: string;
  readonly agent: string;
  readonly status: string;
  readonly node: string;
  readonly key_id: string | null;
  /** RunOptions as JSON, without the values of secrets. */
  readonly options: string;
  /** The leader of the agent's process group, while it runs. */
  readonly pid: number | null;
  readonly pid_started: string | null;
  /** RunResult as JSON, once the run has ended. */
  readonly result: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly completed_at: number | null;
  /** The node that closed the run because its own was lost; null when the run's own node did. */
  readonly closed_by: string | null;
}

interface RunCancelsTable {
  readonly run_id: string;
  readonly requested_at: number;
}

interface RunEventsTable {
  readonly run_id: string;
  readonly sequence: number;
  readonly event: string;
}
