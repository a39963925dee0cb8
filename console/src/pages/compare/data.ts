import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { ReceiptDiffView } from '../../../../src/gateway/api/receipts.ts';
import { get, withQuery } from '../../api/client.ts';
import type { Receipt } from '../../api/types.ts';

export type Pair = readonly [Receipt, Receipt];

/** The difference of two receipts as the server says it. */
export const diffQuery = ([a, b]: Pair) =>
  queryOptions({
    queryKey: ['diff', a.run_id, b.run_id],
    queryFn: () => get<z.infer<typeof ReceiptDiffView>>(withQuery('/v1/receipts/diff', { a: a.run_id, b: b.run_id })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Two lists side by side: what is equal stands in one row, what one of them has alone has an empty place on the other side. */
export async function aligned<T>(
  left: readonly T[],
  right: readonly T[],
  same: (item: T) => string,
): Promise<readonly (readonly [T | null, T | null])[]> {
  const { diffArrays } = await import('diff');
  const [mine, theirs] = [left.values(), right.values()];
  const next = (from: IterableIterator<T>, isThere: boolean): T | null => (isThere ? (from.next().value ?? null) : null);
  return diffArrays(left.map(same), right.map(same)).flatMap(({ value, added, removed }) =>
    value.map((): readonly [T | null, T | null] => [next(mine, !added), next(theirs, !removed)]),
  );
}
