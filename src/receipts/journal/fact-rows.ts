import { type Leaf, leavesOf, type Writing } from '../../contract/receipts/field.ts';
import { RECEIPT_FIELDS, UNSEEN_FIELDS } from '../../contract/receipts/receipt-fields.ts';

/** A row of the receipt's table that a fact supplies. */
export interface FactRow extends Leaf {
  readonly fact: string;
  readonly text: Writing;
}

/** The fields of a receipt in the order of its table. */
export const LEAVES = leavesOf(RECEIPT_FIELDS);

const SUPPLIED = [...LEAVES, ...leavesOf(UNSEEN_FIELDS)].filter(
  (leaf): leaf is FactRow => leaf.fact !== undefined && leaf.text !== undefined,
);

/** The rows of each kind of fact. */
export const FACT_ROWS = {
  open: SUPPLIED.filter(({ from }) => from !== 'close'),
  close: SUPPLIED.filter(({ from }) => from !== 'open'),
} as const;

/** JSON text of a field that nobody has supplied. */
export function noneOf({ none = 'null' }: Leaf): string {
  return none;
}
