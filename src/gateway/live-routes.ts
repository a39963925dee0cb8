import { jsonOf, listIn, objectIn } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import type { RouteRow } from '../mapping/route.ts';
import { deleteSetting, getSetting, setSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import { type Config, RouteConfig } from './config.ts';
import { checkRoutes, enginesOf } from './engine-config.ts';

const NAME = 'routes';

/**
 * The route table in effect: first the rows that operators keep in the database, then those of the configuration. Kept in memory, because
 * every call asks.
 */
export class LiveRoutes {
  readonly #store: Store;
  #config: Pick<Config, 'routes' | 'engines'>;
  #kept: readonly RouteRow[] = [];
  #rows: readonly RouteRow[];

  constructor(store: Store, config: Pick<Config, 'routes' | 'engines'>) {
    this.#store = store;
    this.#config = config;
    this.#rows = config.routes;
  }

  /** The whole table; the first row that matches counts. */
  get rows(): readonly RouteRow[] {
    return this.#rows;
  }

  /** The rows of the database. */
  get kept(): readonly RouteRow[] {
    return this.#kept;
  }

  /** The rows of the configuration. */
  get configured(): readonly RouteRow[] {
    return this.#config.routes;
  }

  /** Replaces the rows of the configuration, which was read again. */
  reconfigure(config: Pick<Config, 'routes' | 'engines'>): void {
    this.#config = config;
    this.#rows = [...this.#kept, ...config.routes];
  }

  /** Replaces the rows of the database, all or none; they hold from the next call on. */
  async keep(rows: readonly RouteRow[]): Promise<void> {
    this.#assertKnown(rows);
    if (rows.length === 0) await deleteSetting(this.#store, NAME);
    else await setSetting(this.#store, NAME, jsonOf({ rows }));
    await this.read();
  }

  /** Refuses rows that lead nowhere, as the start refuses them in the configuration. */
  #assertKnown(rows: readonly RouteRow[]): void {
    try {
      checkRoutes(rows, enginesOf(this.#config.engines));
    } catch (error) {
      if (AbpError.is(error)) throw new AbpError('unprocessable', error.message, error.details);
      throw error;
    }
  }

  async read(): Promise<void> {
    const stored = objectIn(await getSetting(this.#store, NAME));
    this.#kept = listIn(stored?.rows).map((row) => RouteConfig.parse(row));
    this.#rows = [...this.#kept, ...this.#config.routes];
  }
}
