import type { Logger } from 'pino';
import type { CountedResults } from '../calls/meters/counted-results.ts';
import type { Store } from '../store/store.ts';
import { countedRows, countRows } from '../store/usage/counted-results.ts';

/** A receipt does not wait longer for the database. */
const PATIENCE_MS = 5000;

/** What was counted, as the database knows it. Without the database nothing is counted: the next reading of the result will be. */
export function countedResultsOf(store: Store, log: Logger): CountedResults {
  const asked = async <T>(work: Promise<T>): Promise<T | undefined> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
    });
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      log.warn({ error }, 'the database did not say what was counted of a result: this reading of it is not counted');
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    rows: (name) => asked(countedRows(store, name)),
    claim: async (once) => (await asked(countRows(store, once, Date.now()))) ?? false,
  };
}
