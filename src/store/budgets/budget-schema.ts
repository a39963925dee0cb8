/** Budgets and who may use how much of them. */
export interface BudgetTables {
  readonly budgets: BudgetsTable;
  readonly budget_grants: BudgetGrantsTable;
  readonly limit_uses: LimitUsesTable;
}

export interface BudgetsTable {
  readonly id: string;
  /** `key`, `user`, `team`, `tag`, `agent` or `engine`. */
  readonly on_kind: string;
  readonly on_id: string;
  readonly period: string;
  readonly limit_nano_usd: number | null;
  readonly limit_tokens: number | null;
  readonly limit_requests: number | null;
  readonly action: string;
  readonly created_at: number;
}

/** The part of a budget that a node may have used by the end of a period, what it has spent included. */
export interface BudgetGrantsTable {
  readonly budget: string;
  readonly window_start: number;
  readonly node: string;
  readonly nano_usd: number;
  readonly tokens: number;
  readonly requests: number;
  /** 1 for the one node that may let a call in which may use more than is left. */
  readonly last_call: number;
}

/** Each node's use of each limit that several share, as it told last. */
export interface LimitUsesTable {
  /** Whose limit it is. */
  readonly limited: string;
  readonly node: string;
  /** How many calls came lately, let in or not. */
  readonly demand: number;
  /** Calls at the moment. */
  readonly under_way: number;
  /** When that was, by the clock of the database. */
  readonly told_at: number;
}
