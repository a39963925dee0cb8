/** Usage of calls, added up by the keeper. */
export interface UsageTables {
  readonly usage_rollups: UsageRollupsTable;
  readonly usage_positions: UsagePositionsTable;
  readonly counted_results: CountedResultsTable;
}

export interface UsageRollupsTable {
  /** `h` for an hour, `d` for a day of UTC: each call is in one row of both. */
  readonly span: string;
  /** When it begins. */
  readonly start: number;
  readonly chain: number;
  /** A digest of the facets below, so that a row is found by one value. */
  readonly facets: string;
  /** Empty where a call has none. */
  readonly engine: string;
  readonly model: string;
  readonly key_id: string;
  readonly agent: string;
  readonly status: string;
  readonly mode: string;
  readonly error: string;
  /** A bit per fate that some field of the request had. */
  readonly fates: number;
  /** As in the table of receipts. */
  readonly tags: string;
  readonly calls: number;
  readonly unpriced: number;
  readonly cost_nano_usd: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cache_read: number;
  readonly thinking: number;
  /** Calls whose last try came to nobody, as its error says, after an earlier one had come to an engine. */
  readonly reached: number;
  /** Durations by size, as `Durations` writes them. */
  readonly first_byte: string;
  readonly total: string;
  /**
   * The chain that has the receipts of these calls, where their own node wrote how they ended after another one had sealed them; 0 for all others.
   * A row with counts below zero takes out of the sums what those receipts say; another one adds what the calls have really used.
   */
  readonly late_of: number;
}

/** Results that vendors tell as often as they are asked. */
interface CountedResultsTable {
  /** The engine and the vendor's own name of the result. */
  readonly name: string;
  /** Rows that are counted; 1 for a result that has none. */
  readonly counted: number;
  readonly counted_at: number;
}

interface UsagePositionsTable {
  readonly chain: number;
  /** Receipts up to this place in the chain are in the rows of the chain. */
  readonly sequence: number;
}
