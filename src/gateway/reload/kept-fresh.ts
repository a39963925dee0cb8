import type { Logger } from 'pino';
import type { Store } from '../../store/store.ts';

/** Other nodes on the same database hear of a change at once, or, where a notice gets lost, this much later at the latest. */
export const FRESH_MS = 5000;

/** Rows of the database that the server keeps in memory, because every call asks for them. */
interface HeldTable {
  read(): Promise<void>;
}

/**
 * Reads a table at the start of the server. Where other nodes share the database it is read again and again: they may have changed it, and the
 * notice by which they tell so can get lost.
 */
export async function keepFresh(
  table: HeldTable,
  rows: string,
  { store, log }: { readonly store: Pick<Store, 'kind'>; readonly log: Pick<Logger, 'warn'> },
  closers: (() => void | Promise<void>)[],
): Promise<void> {
  await table.read();
  if (store.kind !== 'postgres') return;
  const again = (): Promise<void> =>
    table.read().catch((error: unknown) => log.warn({ error }, `${rows} could not be read again; those known before hold`));
  const timer = setInterval(again, FRESH_MS).unref();
  closers.push(() => clearInterval(timer));
}
