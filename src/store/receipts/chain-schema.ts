/** Tables of the signed chains; one chain per node. */
export interface ChainTables {
  readonly chains: ChainsTable;
  readonly chain_entries: ChainEntriesTable;
  readonly chain_heads: ChainHeadsTable;
  readonly seal_keys: SealKeysTable;
  readonly late_ends: LateEndsTable;
}

interface ChainsTable {
  /** A small number that stands for the node in every sealed row. */
  readonly number: number;
  readonly node: string;
  /** The last entry. */
  readonly sequence: number;
  readonly hash: string;
  readonly key_id: string;
}

/** Entries that are not receipts. */
interface ChainEntriesTable {
  readonly chain: number;
  readonly sequence: number;
  readonly kind: string;
  readonly document: string;
}

interface ChainHeadsTable {
  readonly chain: number;
  readonly sequence: number;
  readonly document: string;
}

interface SealKeysTable {
  readonly id: string;
  readonly chain: number;
  readonly public_key: string;
  readonly created_at: number;
  readonly retired_at: number | null;
}

/** Ends that a node knows of runs which another node had closed for it. The entry of the chain at this place has their hashes. */
interface LateEndsTable {
  readonly run_id: string;
  readonly chain: number;
  readonly sequence: number;
  readonly document: string;
  /** 1 once the sums of usage go by it. Versions that did not count late ends have left a 0. */
  readonly counted: number;
}
