import { jsonOf } from '../../base/json.ts';
import { type Call, shareOfOwner } from '../../calls/call.ts';
import { CallLimits } from '../../calls/limits/call-limits.ts';
import type { Limited } from '../../calls/limits/rate-check.ts';
import { deleteSetting, listSettings, setSetting } from '../../store/settings.ts';
import type { Store } from '../../store/store.ts';
import type { LimitShares } from './limit-shares.ts';

const PREFIX = 'limits/key/';

/** Limits beside those of callers. */
export interface MoreLimits {
  /** Of engines, by their ids. */
  readonly engines: ReadonlyMap<string, CallLimits>;
  readonly teamsOf: (key: string) => readonly string[];
  readonly ofTeam: (team: string) => CallLimits | undefined;
  /** Parts of limits, where other nodes of the database have theirs. */
  readonly shares?: Pick<LimitShares, 'of' | 'onChange'> | undefined;
}

const NOBODY: readonly Limited[] = [];

/** Those who have limits: what tells them from all others, and how they are called in a refusal. */
const WORDS = {
  caller: { id: (key: string) => key, name: () => 'This caller', everyTry: false },
  team: { id: (team: string) => `team ${team}`, name: (team: string) => `The team ${team}`, everyTry: false },
  engine: { id: (engine: string) => `engine ${engine}`, name: (engine: string) => `The engine ${engine}`, everyTry: true },
} as const;
/** How many of a kind are remembered. */
const MOST_MADE = 10_000;

/**
 * The limits of each caller: those of its key, else those that the configuration sets for everybody; of its teams, and of the engine that it
 * calls. Kept in memory, because every call asks.
 */
export class LimitTable {
  readonly #store: Store;
  #everybody: CallLimits;
  #more: MoreLimits;
  /** By key, as they were set. */
  #own: ReadonlyMap<string, CallLimits> = new Map();
  /** By key, with the limits of everybody filled in. */
  #byKey = new Map<string, CallLimits>();
  readonly #made = { caller: new Map<string, Limited>(), team: new Map<string, Limited>(), engine: new Map<string, Limited>() };

  constructor(store: Store, everybody: CallLimits, more: MoreLimits) {
    this.#store = store;
    this.#more = more;
    this.#everybody = everybody;
  }

  /** Takes over what the configuration says now. The same limits stay the same objects: they tell whether somebody's use goes on. */
  reconfigure(everybody: CallLimits, engines: MoreLimits['engines']): void {
    if (!same(everybody, this.#everybody)) this.#everybody = everybody;
    const known = this.#more.engines;
    const kept = [...engines].map(([id, limits]) => [id, sameOr(known.get(id), limits)] as const);
    this.#more = { ...this.#more, engines: new Map(kept) };
    this.#byKey = new Map([...this.#own].map(([key, own]) => [key, sameOr(this.#byKey.get(key), { ...this.#everybody, ...own })]));
  }

  /** The limits of a caller; undefined where it has none. */
  of(caller: string): CallLimits | undefined {
    return this.#byKey.get(caller) ?? (isEmpty(this.#everybody) ? undefined : this.#everybody);
  }

  /** Everybody whose limits a call is held to. */
  heldTo(call: Call): readonly Limited[] {
    const caller = shareOfOwner(call.owner);
    const { engines, teamsOf, ofTeam } = this.#more;
    const own = this.of(caller);
    const engine = engines.size === 0 ? undefined : engines.get(call.engine ?? '');
    const teams = teamsOf(caller);
    if (own === undefined && engine === undefined && teams.length === 0) return NOBODY;
    const held: Limited[] = own === undefined ? [] : [this.#held('caller', caller, own)];
    for (const team of teams) {
      const limits = ofTeam(team);
      if (limits !== undefined) held.push(this.#held('team', team, limits));
    }
    if (engine !== undefined) held.push(this.#held('engine', call.engine ?? '', engine));
    return held;
  }

  /** The same object while nothing changes: every call asks. */
  #held(kind: keyof typeof WORDS, subject: string, whole: CallLimits): Limited {
    const known = this.#made[kind].get(subject);
    const id = known?.id ?? WORDS[kind].id(subject);
    const part = this.#more.shares?.of(id, whole);
    const limits = part?.limits ?? whole;
    if (known !== undefined && known.limits === limits && known.count === part?.count && (known.whole ?? limits) === whole) return known;
    const { name, everyTry } = WORDS[kind];
    const made = { id, name: name(subject), limits, everyTry, ...(part === undefined ? {} : { whole, count: part.count }) };
    if (this.#made[kind].size >= MOST_MADE) this.#made[kind].clear();
    this.#made[kind].set(subject, made);
    return made;
  }

  /** Tells of limits that change because other nodes use more or less of them. */
  onChange(listener: (id: string, limits: CallLimits) => void): void {
    this.#more.shares?.onChange(listener);
  }

  /** The limits that a key has of its own. */
  async ofKeys(): Promise<ReadonlyMap<string, CallLimits>> {
    const rows = await listSettings(this.#store, PREFIX);
    return new Map(rows.map(({ name, value }) => [name.slice(PREFIX.length), CallLimits.parse(value)]));
  }

  async set(keyId: string, limits: CallLimits): Promise<void> {
    if (isEmpty(limits)) await deleteSetting(this.#store, `${PREFIX}${keyId}`);
    else await setSetting(this.#store, `${PREFIX}${keyId}`, jsonOf(limits));
    await this.read();
  }

  async read(): Promise<void> {
    this.#own = await this.ofKeys();
    // The same object while nothing changes: it tells whether a caller's use goes on.
    this.#byKey = new Map([...this.#own].map(([key, own]) => [key, sameOr(this.#byKey.get(key), { ...this.#everybody, ...own })]));
  }
}

function sameOr(known: CallLimits | undefined, limits: CallLimits): CallLimits {
  return known !== undefined && same(known, limits) ? known : limits;
}

function isEmpty(limits: CallLimits): boolean {
  return Object.keys(limits).length === 0;
}

function same(one: CallLimits, other: CallLimits): boolean {
  return (['requests_per_minute', 'tokens_per_minute', 'concurrency'] as const).every((name) => one[name] === other[name]);
}
