import type { Logger } from 'pino';
import type { CallLimits } from '../../calls/limits/call-limits.ts';
import type { LimitCount } from '../../calls/limits/rate-check.ts';
import { nodeStates } from '../../store/budgets/grants.ts';
import { forgetUses, tellUses } from '../../store/budgets/limit-uses.ts';
import type { PostgresStore, Store } from '../../store/store.ts';
import { callsOf, type NodeUse, partOf } from './node-part.ts';

/** How often nodes tell each other what they use; more seldom where that is about very many limits. */
const TELL_MS = 1000;
const MOST_A_SECOND = 500;
/** A node that has not told its use again for so long has ended or hangs, and its use counts no longer. */
const FRESH_MS = 10_000;
/** A limit that nobody used for so long is forgotten. */
const IDLE_MS = 60_000;
/** Who hears of no other for so long may have all of a limit. */
const QUIET_MS = 3 * TELL_MS;
const FORGET_EVERY_MS = 60_000;
/** Nodes that were silent for so long have no part. */
const LOST_MS = 15 * 60_000;
/** Calls of a moment ago count half as much as those that come now, so that a part follows the calls and one quiet second does not lose it. */
const FADING = 0.5;

/** A limit that this node has a part of. */
interface Shared {
  readonly count: LimitCount;
  whole: CallLimits;
  part: CallLimits;
  demand: number;
  /** Calls of other nodes, and how this one stands among those that have some. Undefined before it was told of. */
  others: readonly NodeUse[] | undefined;
  usedAt: number;
  /** Since when this node uses it. */
  readonly since: number;
}

export interface ShareOptions {
  readonly store: PostgresStore;
  readonly node: string;
  readonly onFault: (error: unknown) => void;
}

/**
 * Limits that nodes of one database share. Each node holds callers to a part of them: to an even one at first, and after a second to one that
 * goes by where the calls come. Nodes tell each other in the background what they use; no call waits for the database.
 */
export class LimitShares {
  readonly #options: ShareOptions;
  readonly #shared = new Map<string, Shared>();
  readonly #listeners: ((limited: string, part: CallLimits) => void)[] = [];
  /** The use that other nodes told last, by limit. */
  #heard: ReadonlyMap<string, readonly NodeUse[]> = new Map();
  #live = 1;
  #forgotAt = Number.NEGATIVE_INFINITY;
  #now = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** The last word to the others did not arrive; said once. */
  #isAway = false;

  constructor(options: ShareOptions) {
    this.#options = options;
  }

  /** Rejects while the database is away. */
  async open(): Promise<void> {
    await this.#countNodes();
    this.#wind(TELL_MS);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Tells of parts that have changed. */
  onChange(listener: (limited: string, part: CallLimits) => void): void {
    this.#listeners.push(listener);
  }

  /** This node's part of a limit; the same object until it changes. Told on the hot path. */
  of(limited: string, whole: CallLimits): { readonly limits: CallLimits; readonly count: LimitCount } {
    const known = this.#shared.get(limited);
    if (known?.whole === whole) return { limits: known.part, count: known.count };
    const now = performance.now();
    const shared: Shared = known ?? {
      count: { arrived: 0, underWay: 0 },
      whole,
      part: whole,
      demand: 0,
      others: undefined,
      usedAt: now,
      since: now,
    };
    shared.whole = whole;
    shared.part = this.#partOf(shared);
    this.#shared.set(limited, shared);
    return { limits: shared.part, count: shared.count };
  }

  #partOf({ whole, others: heard, demand, count, since }: Shared): CallLimits {
    if (this.#live < 2) return whole;
    // Others that began at the same time have not been heard of yet.
    const others = heard?.length === 0 && performance.now() - since < QUIET_MS ? undefined : heard;
    const own: NodeUse = { node: this.#options.node, demand, calls: count.underWay };
    return partOf(whole, own, { others, live: this.#live, turn: Math.floor(this.#now / (4 * TELL_MS)) });
  }

  #wind(ms: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#tell()
        .then(() => {
          this.#isAway = false;
        })
        .catch((error: unknown) => {
          // A node that hears nothing has an even part: more would be more than all may have together.
          this.#heard = new Map();
          for (const shared of this.#shared.values()) shared.others = undefined;
          this.#anew();
          if (!this.#isAway) this.#options.onFault(error);
          this.#isAway = true;
        })
        .finally(() => this.#wind(TELL_MS * (1 + Math.floor(this.#shared.size / MOST_A_SECOND))));
    }, ms).unref();
  }

  async #tell(): Promise<void> {
    const now = performance.now();
    await this.#countNodes();
    for (const [limited, shared] of this.#shared) {
      if (shared.count.arrived > 0 || shared.count.underWay > 0) shared.usedAt = now;
      else if (now - shared.usedAt > IDLE_MS) this.#shared.delete(limited);
      shared.demand = shared.demand * FADING + shared.count.arrived;
      shared.count.arrived = 0;
    }
    if (this.#live > 1) {
      const { store, node } = this.#options;
      const own = [...this.#shared].map(([limited, { demand, count }]) => ({
        limited,
        demand: Math.ceil(demand),
        under_way: count.underWay,
      }));
      const told = await tellUses(store, node, own, FRESH_MS);
      this.#now = told.now;
      this.#heard = new Map([...Map.groupBy(told.uses, ({ limited }) => limited)].map(([limited, uses]) => [limited, uses.map(callsOf)]));
      for (const { limited } of own) {
        const shared = this.#shared.get(limited);
        if (shared !== undefined) shared.others = this.#heard.get(limited) ?? [];
      }
    }
    this.#anew();
  }

  #anew(): void {
    for (const [limited, shared] of this.#shared) {
      const part = this.#partOf(shared);
      if (same(part, shared.part)) continue;
      shared.part = part;
      for (const listener of this.#listeners) listener(limited, part);
    }
  }

  async #countNodes(): Promise<void> {
    const { store, node } = this.#options;
    const states = await nodeStates(store, LOST_MS);
    this.#live = Math.max(1, states.filter((state) => state.live || state.node === node).length);
    if (performance.now() - this.#forgotAt < FORGET_EVERY_MS) return;
    this.#forgotAt = performance.now();
    await forgetUses(store, node, IDLE_MS);
  }
}

/** Parts of limits where the database may have other nodes; undefined where it has none. */
export async function openShares(
  { store, node, log }: { readonly store: Store; readonly node: string; readonly log: Logger },
  closers: (() => void)[],
): Promise<LimitShares | undefined> {
  if (store.kind !== 'postgres') return undefined;
  const onFault = (error: unknown): void =>
    log.warn({ error }, 'nodes cannot tell each other what they use of limits; each holds callers to an even part of them');
  const shares = new LimitShares({ store, node, onFault });
  closers.push(() => shares.close());
  await shares.open();
  return shares;
}

function same(one: CallLimits, other: CallLimits): boolean {
  return (['requests_per_minute', 'tokens_per_minute', 'concurrency'] as const).every((name) => one[name] === other[name]);
}
