import { jsonOf } from '../../base/json.ts';
import { CallLimits } from '../../calls/limits/call-limits.ts';
import { deleteSetting, listSettings, setSetting } from '../../store/settings.ts';
import type { Store } from '../../store/store.ts';

const PREFIX = 'limits/key/';
/** Other nodes on the same database hear of a change this much later at the latest. */
const FRESH_MS = 5000;

/** The limits of each caller: those of its key, else those that the configuration sets for everybody. Kept in memory, because every call asks. */
export class LimitTable {
  readonly #store: Store;
  readonly #everybody: CallLimits;
  /** By key, with the limits of everybody filled in. */
  #byKey = new Map<string, CallLimits>();
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store, everybody: CallLimits) {
    this.#store = store;
    this.#everybody = everybody;
  }

  /** Reads them, and on a database that several nodes share goes on reading them. */
  async open(onFault: (error: unknown) => void): Promise<void> {
    await this.#read();
    if (this.#store.kind !== 'postgres') return;
    this.#timer = setInterval(() => this.#read().catch(onFault), FRESH_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** The limits of a caller; undefined where it has none. */
  of(caller: string): CallLimits | undefined {
    return this.#byKey.get(caller) ?? (isEmpty(this.#everybody) ? undefined : this.#everybody);
  }

  /** The limits that a key has of its own. */
  async ofKeys(): Promise<ReadonlyMap<string, CallLimits>> {
    const rows = await listSettings(this.#store, PREFIX);
    return new Map(rows.map(({ name, value }) => [name.slice(PREFIX.length), CallLimits.parse(value)]));
  }

  async set(keyId: string, limits: CallLimits): Promise<void> {
    if (isEmpty(limits)) await deleteSetting(this.#store, `${PREFIX}${keyId}`);
    else await setSetting(this.#store, `${PREFIX}${keyId}`, jsonOf(limits));
    await this.#read();
  }

  async #read(): Promise<void> {
    const read = new Map<string, CallLimits>();
    for (const [key, own] of await this.ofKeys()) {
      const limits = { ...this.#everybody, ...own };
      const known = this.#byKey.get(key);
      // The same object while nothing changes: it tells whether a caller's use goes on.
      read.set(key, known !== undefined && same(known, limits) ? known : limits);
    }
    this.#byKey = read;
  }
}

function isEmpty(limits: CallLimits): boolean {
  return Object.keys(limits).length === 0;
}

function same(one: CallLimits, other: CallLimits): boolean {
  return (['requests_per_minute', 'tokens_per_minute', 'concurrency'] as const).every((name) => one[name] === other[name]);
}
