import type { JsonObject } from '../../base/json.ts';
import type { SealKey } from '../../contract/receipts/chain.ts';
import type { ChainVerification } from '../../contract/receipts/chain-verification.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { RunReport } from '../../gateway/api/reports.ts';
import type { RunRow, RunRowList } from '../../gateway/api/run-rows.ts';
import type { RowList } from '../../gateway/rows/row-page.ts';
import { openHome } from '../../home/home.ts';
import type { RemovalOrder } from '../../receipts/remove.ts';
import type { Rotation } from '../../receipts/seal/rotate.ts';
import type { ReceiptChoice } from '../../store/receipts/receipts.ts';
import { serverOf } from '../client.ts';
import type { Context } from '../command.ts';

/** Which receipts; times in milliseconds since the epoch. */
export type Filter = ReceiptChoice;

export interface ExportRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A page of a list, as HTTP and `--json` show it. */
export type Listed<T> = Omit<RunRowList, 'items'> & { readonly items: readonly T[] };

/** Where the commands find receipts: the server that they go to, or the home itself. */
export interface ReceiptSource {
  get(run: RunId): Promise<JsonObject>;
  /** The run as people read it: prompt, tool calls, changed files, the receipts of its calls. */
  report(run: RunId): Promise<RunReport>;
  list(options: RowList): Promise<Listed<JsonObject>>;
  /** The same as lines. */
  rows(options: RowList): Promise<Listed<RunRow>>;
  /** The export in pieces. */
  export(filter: Filter, range: ExportRange): AsyncIterable<Uint8Array>;
  /** The database's own word on the chain, with faults that an export cannot show. */
  verify(range: ExportRange): Promise<ChainVerification>;
  /** The same of one receipt, for those who may not read the chain. */
  verifyRun(run: RunId): Promise<ChainVerification>;
  keys(): Promise<readonly SealKey[]>;
  head(): Promise<JsonObject>;
  rotate(lost: boolean): Promise<Rotation>;
  /** How many receipts became stubs. */
  remove(order: RemovalOrder): Promise<number>;
  close(): Promise<void>;
}

/** Does the work on a source and closes it. */
export async function withReceipts<T>(context: Context, work: (source: ReceiptSource) => Promise<T>): Promise<T> {
  const home = openHome({ path: context.homePath });
  const serving = serverOf(home);
  const source =
    serving === undefined
      ? await (await import('./home-source.ts')).homeSource(context, home)
      : (await import('./server-source.ts')).serverSource(serving);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}
