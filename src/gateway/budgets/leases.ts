import type { Account, Page } from '../../calls/budgets/account.ts';
import { type Amounts, type Budget, MEASURES, nothing } from '../../calls/budgets/budget.ts';
import { spentByChain, totalOf } from '../../receipts/usage/spent.ts';
import {
  changeGrant,
  type Grant,
  type GrantAmounts,
  leaveGrant,
  listGrants,
  type NodeState,
  nodeStates,
} from '../../store/budgets/grants.ts';
import type { PostgresStore } from '../../store/store.ts';
import type { SpentOfChain, SpentOn } from '../../store/usage/spent.ts';
import { isTooMuch, partOf } from './lease-share.ts';

export interface LeaseOptions {
  readonly store: PostgresStore;
  readonly node: string;
  readonly spentOn: (on: Budget['on']) => SpentOn;
  /** The operator's choice for calls beyond this node's part while the database is away: nobody can say then whether the budget has room. */
  readonly away: 'refuse' | 'allow';
  readonly onFault: (error: unknown) => void;
  /** Tells the other nodes that this one is short of a budget, or that it has given some of it back. */
  readonly say: (word: LeaseWord, budget: string) => void;
}

/** The notices by which nodes give each other what they do not use. */
export const LEASE_WORDS = ['short', 'given'] as const;
export type LeaseWord = (typeof LEASE_WORDS)[number];

/** A node that has been silent for so long no longer uses what it was granted; the node itself stops a good while before. */
const LOST_MS = 15 * 60_000;
const TRUSTED_MS = 10 * 60_000;
/** Asking again is in vain for a while when the others hold all the rest. */
const IN_VAIN_MS = 500;

/** The parts of shared budgets that this node may use. It asks for more in the background, ahead of need; no call waits for the database. */
export class Leases {
  readonly #options: LeaseOptions;
  readonly #renewing = new Map<Page, Promise<void>>();
  readonly #vainUntil = new WeakMap<Page, number>();
  #live = 0;
  #nodes: { readonly at: number; readonly states: readonly NodeState[] } | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** A call did not fit, or nearly not. Told on the hot path. */
  short({ budget, page }: Account): void {
    if (this.#renewing.has(page) || (this.#vainUntil.get(page) ?? 0) > performance.now()) return;
    this.renew(budget, page).catch(() => undefined);
  }

  /** Brings what other nodes have spent and the part of this node up to date. Rejects while the database is away. */
  renew(budget: Budget, page: Page): Promise<void> {
    const running = this.#renewing.get(page);
    if (running !== undefined) return running;
    const renewed = this.#renew(budget, page)
      .catch((error: unknown) => {
        this.#vainUntil.set(page, performance.now() + IN_VAIN_MS);
        if (this.#options.away === 'allow') page.granted = undefined;
        this.#options.onFault(error);
        throw error;
      })
      .finally(() => this.#renewing.delete(page));
    this.#renewing.set(page, renewed);
    return renewed;
  }

  /** Another node is short of a budget, or has given some of it back. */
  hear(word: LeaseWord, { budget, page }: Account): void {
    this.#vainUntil.delete(page);
    const heard = word === 'short' ? this.#lend(budget, page) : this.renew(budget, page);
    heard.catch(() => undefined);
  }

  /** Gives back what is not in use here, once the database has answered what this node asked before. */
  async #lend(budget: Budget, page: Page): Promise<void> {
    await this.#renewing.get(page)?.catch(() => undefined);
    if (this.#renewing.has(page)) return await this.#lend(budget, page);
    const lent = this.#giveUp(budget, page)
      .catch(this.#options.onFault)
      .finally(() => this.#renewing.delete(page));
    this.#renewing.set(page, lent);
    await lent;
  }

  /** All of it where no call has come since the last look, else half. The node stops using it before the database hears of it. */
  async #giveUp(budget: Budget, page: Page): Promise<void> {
    const { store, node, say } = this.#options;
    const { granted, touched } = page;
    if (granted === undefined) return;
    const used = usedOf(page);
    const part = nothing();
    for (const measure of MEASURES) {
      const unused = Math.max(0, granted[measure] - used[measure]);
      part[measure] = granted[measure] - (touched ? Math.ceil(unused / 2) : unused);
    }
    if (MEASURES.every((measure) => budget.limits[measure] === undefined || part[measure] >= granted[measure])) return;
    page.granted = part;
    page.lastCall = false;
    await leaveGrant(store, placeOf(budget, page), { node, ...wire(part) });
    say('given', budget.id);
  }

  async #renew(budget: Budget, page: Page): Promise<void> {
    const states = await this.#states();
    await this.#readSpent(budget, page, states);
    if (budget.action === 'warn') return;
    const rows = await listGrants(this.#options.store, placeOf(budget, page));
    await this.#giveBack(budget, page, rows, liveOf(states, this.#options.node));
    await this.#ask(budget, page, { states, rows });
  }

  /** Reads from the receipts how much this node has spent, and how much the others. */
  async #readSpent({ on }: Budget, page: Page, states: readonly NodeState[]): Promise<void> {
    const chains = await this.#spent(on, page);
    const chain = states.find(({ node }) => node === this.#options.node)?.chain;
    const [own, others] = [chains.filter((one) => one.chain === chain), chains.filter((one) => one.chain !== chain)];
    page.raise(sumOf(own.map(({ told }) => told)), sumOf(own.map(({ taken }) => taken)));
    page.raiseElsewhere(sumOf(others.map(({ told }) => told)), sumOf(others.map(({ taken }) => taken)));
    page.unpriced = Math.max(page.unpriced, totalOf(chains).unpriced);
  }

  async #spent(on: Budget['on'], page: Page): Promise<SpentOfChain[]> {
    const { store, spentOn } = this.#options;
    const { start: since, end: until } = page.window;
    return await spentByChain(store, { on: spentOn(on), since, until });
  }

  /** Lets others have what this node holds beyond its part. The node stops using it before the database hears of it. */
  async #giveBack(budget: Budget, page: Page, rows: readonly Grant[], live: number): Promise<void> {
    const { store, node } = this.#options;
    if (page.granted === undefined) return;
    const others = sumOf(rows.filter((row) => row.node !== node));
    const { settled, wanted } = page;
    const part = partOf({ limits: budget.limits, settled, used: usedOf(page), wanted, others, live });
    if (!isTooMuch(page.granted, part, budget.limits)) return;
    page.granted = part;
    await changeGrant(store, { place: placeOf(budget, page), node, spent: [], decide: () => wire(part) });
  }

  async #ask(budget: Budget, page: Page, { states, rows }: { states: readonly NodeState[]; rows: readonly Grant[] }): Promise<void> {
    const { store, node } = this.#options;
    const live = liveOf(states, node);
    const wanted = { ...page.wanted };
    const before = page.granted;
    const spent = await this.#spentByOthers(budget, page, { states, rows });
    const granted = await changeGrant(store, {
      place: placeOf(budget, page),
      node,
      spent,
      decide: (rest, mine) => {
        const others = sumOf(rest);
        const ask = { limits: budget.limits, settled: page.settled, used: usedOf(page), wanted, others, live };
        return wire(partOf(ask, mine && amountsOf(mine)));
      },
    });
    this.#take(page, granted, wanted);
    const grown = before === undefined || MEASURES.some((measure) => (page.granted?.[measure] ?? 0) > before[measure]);
    if (grown) return;
    this.#vainUntil.set(page, performance.now() + IN_VAIN_MS);
    if (isHeldElsewhere(budget, page, wanted)) this.#options.say('short', budget.id);
  }

  #take(page: Page, granted: Grant, wanted: Amounts): void {
    page.granted = amountsOf(granted);
    page.lastCall = granted.last_call === 1;
    page.trustedUntil = Date.now() + TRUSTED_MS;
    const used = usedOf(page);
    for (const measure of MEASURES) {
      page.wanted[measure] -= wanted[measure];
      page.renewAt[measure] = (used[measure] + page.granted[measure]) / 2;
    }
  }

  /** Nodes that have spent something without a grant, and lost ones, which no longer use theirs. */
  async #spentByOthers(
    { on }: Budget,
    page: Page,
    { states, rows }: { states: readonly NodeState[]; rows: readonly Grant[] },
  ): Promise<(GrantAmounts & { node: string })[]> {
    const found: (GrantAmounts & { node: string })[] = [];
    const asked = states.filter(({ node, lost }) => node !== this.#options.node && (lost || rows.every((row) => row.node !== node)));
    if (asked.length === 0) return found;
    const chains = await this.#spent(on, page);
    for (const { node, chain } of asked) {
      const row = rows.find((one) => one.node === node);
      const spent = wire(amountsOf(totalOf(chains.filter((one) => one.chain === chain))));
      if (row === undefined || row.nano_usd > spent.nano_usd || row.tokens > spent.tokens || row.requests > spent.requests) {
        found.push({ node, ...spent });
      }
    }
    return found;
  }

  /** Stops using what is left of its part, so that others may. */
  async leave({ budget, page }: Account): Promise<void> {
    if (page.granted === undefined) return;
    const used = usedOf(page);
    page.granted = used;
    page.lastCall = false;
    await leaveGrant(this.#options.store, placeOf(budget, page), { node: this.#options.node, ...wire(used) });
  }

  /** Whether another number of nodes lives than the last time. */
  async hasMoved(): Promise<boolean> {
    const live = liveOf(await this.#states(), this.#options.node);
    const moved = live !== this.#live;
    this.#live = live;
    return moved;
  }

  async #states(): Promise<readonly NodeState[]> {
    if (this.#nodes === undefined || performance.now() - this.#nodes.at > FRESH_MS) {
      this.#nodes = { at: performance.now(), states: await nodeStates(this.#options.store, LOST_MS) };
    }
    return this.#nodes.states;
  }
}

/** Nodes come and go seldom. */
const FRESH_MS = 2000;

/** Whether calls were refused though other nodes have not spent all the rest. */
function isHeldElsewhere({ limits }: Budget, { granted, elsewhere }: Page, wanted: Amounts): boolean {
  return MEASURES.some((measure) => wanted[measure] > 0 && (limits[measure] ?? 0) > (granted?.[measure] ?? 0) + elsewhere[measure]);
}

function liveOf(states: readonly NodeState[], node: string): number {
  return states.filter((state) => state.live || state.node === node).length;
}

function placeOf({ id }: Budget, { window }: Page): { budget: string; windowStart: number } {
  return { budget: id, windowStart: window.start };
}

function usedOf({ settled, reserved }: Page): Amounts {
  return {
    nanoUsd: settled.nanoUsd + reserved.nanoUsd,
    tokens: settled.tokens + reserved.tokens,
    requests: settled.requests + reserved.requests,
  };
}

function wire({ nanoUsd, tokens, requests }: Readonly<Amounts>): GrantAmounts {
  return { nano_usd: Math.ceil(nanoUsd), tokens: Math.ceil(tokens), requests };
}

function amountsOf({ nano_usd: nanoUsd, tokens, requests }: GrantAmounts): Amounts {
  return { nanoUsd, tokens, requests };
}

function sumOf(rows: readonly GrantAmounts[]): Amounts {
  const sum = nothing();
  for (const { nano_usd, tokens, requests } of rows) {
    sum.nanoUsd += nano_usd;
    sum.tokens += tokens;
    sum.requests += requests;
  }
  return sum;
}
