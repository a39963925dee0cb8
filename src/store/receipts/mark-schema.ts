/** Marks by which lists find receipts without reading their documents. */
export interface MarkTables {
  readonly receipt_marks: ReceiptMarksTable;
  readonly receipt_kinds: ReceiptKindsTable;
  readonly mark_positions: MarkPositionsTable;
}

/** A receipt has this mark; see `marks.ts` for what marks stand for. */
interface ReceiptMarksTable {
  readonly mark: number;
  readonly started_at: number;
  readonly run_id: string;
}

/** Receipts that agree in all of these have the same mark. Empty where a receipt has none. */
export interface ReceiptKindsTable {
  readonly mark: number;
  readonly plane: string;
  readonly engine: string;
  readonly model: string;
  readonly status: string;
  readonly mode: string;
  readonly agent: string;
  readonly reason: string;
  /** Code of the error. */
  readonly error: string;
  /** Task, models and message of the error in lower case, a line each. */
  readonly words: string;
}

interface MarkPositionsTable {
  readonly chain: number;
  /** Receipts up to this place in the chain have their marks. */
  readonly sequence: number;
}
