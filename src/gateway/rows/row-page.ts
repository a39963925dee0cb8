import { AbpError } from '../../contract/errors.ts';
import type { Page } from '../../store/page.ts';
import type { Store } from '../../store/store.ts';
import type { RowOrder, RunRow } from '../api/run-rows.ts';
import { type Count, countRows, type Found, findReceipts, type RowFilter, rankReceipts, withKeyId, withKeyNames } from './find-rows.ts';

const PAGE = 50;

/** A list of runs as a caller asks for it. */
export type RowList = RowFilter & { readonly limit?: number | undefined; readonly sort?: RowOrder; readonly total?: boolean };

type Listed<T> = Page<T> & Partial<Count>;

/** A page of receipts with their lines, in the order that is asked for, counted where that is asked for. */
export async function pageOfReceipts(
  store: Store,
  { limit = PAGE, sort = 'started', total = false, ...asked }: RowList,
): Promise<Listed<Found>> {
  const filter = await withKeyId(store, asked);
  if (sort === 'started') {
    const page = await findReceipts(store, filter, limit);
    return total ? { ...page, ...(await countRows(store, filter)) } : page;
  }
  if (filter.cursor !== undefined)
    throw new AbpError('invalid_request', `A list that is sorted by ${sort} has one page and takes no cursor; give it a larger limit.`);
  return await rankReceipts(store, filter, { sort, limit });
}

/** The same as lines, with the names of their keys. */
export async function pageOfRows(store: Store, list: RowList): Promise<Listed<RunRow>> {
  const { items, ...page } = await pageOfReceipts(store, list);
  const rows = items.map(({ row }) => row);
  return { ...page, items: await withKeyNames(store, rows) };
}
