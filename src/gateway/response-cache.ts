import { join } from 'node:path';
import type { Logger } from 'pino';
import { jsonOf } from '../base/json.ts';
import { DiskCache } from '../calls/response-cache/disk-cache.ts';
import { ResponseCache } from '../calls/response-cache/response-cache.ts';
import { CacheTerms } from '../contract/cache-terms.ts';
import { deleteSetting, listSettings, setSetting } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import type { Config } from './config.ts';

const [KIB, MIB] = [1024, 1024 * 1024];
const PREFIX = 'cache/key/';

/** The cache of answers as the configuration wants it. */
export function responseCacheOf({ cache }: Config, homePath: string, log: Logger): ResponseCache {
  const { memory_mb: memory, disk_mb: disk, answer_kb: answer } = cache;
  const onFault = (error: unknown): void => log.warn({ error }, 'an answer could not be kept on the disk, or not be read from there');
  return new ResponseCache({
    memoryBytes: memory * MIB,
    answerBytes: answer * KIB,
    ...(disk === 0 ? {} : { disk: new DiskCache(join(homePath, 'cache'), disk * MIB, onFault) }),
  });
}

/** Keys whose answers are given again. Kept in memory, because every call asks. */
export class KeyCaches {
  readonly #store: Store;
  #byKey: ReadonlyMap<string, CacheTerms> = new Map();

  constructor(store: Store) {
    this.#store = store;
  }

  of(keyId: string | null): CacheTerms | undefined {
    return keyId === null || this.#byKey.size === 0 ? undefined : this.#byKey.get(keyId);
  }

  /** Null: the key's answers are never given again. */
  async set(keyId: string, terms: CacheTerms | null): Promise<void> {
    if (terms === null) await deleteSetting(this.#store, `${PREFIX}${keyId}`);
    else await setSetting(this.#store, `${PREFIX}${keyId}`, jsonOf(terms));
    await this.read();
  }

  async read(): Promise<void> {
    const rows = await listSettings(this.#store, PREFIX);
    this.#byKey = new Map(rows.map(({ name, value }) => [name.slice(PREFIX.length), CacheTerms.parse(value)]));
  }
}
