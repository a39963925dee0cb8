import { Account, Page } from '../../calls/budgets/account.ts';
import { type Amounts, type Budget, type BudgetTerms, budgetOf, nothing } from '../../calls/budgets/budget.ts';
import { type KeyHolder, Ledger } from '../../calls/budgets/ledger.ts';
import { type Window, windowAt } from '../../calls/budgets/period.ts';
import { type CallPrices, loadPrices } from '../../calls/budgets/prices.ts';
import { UNKEYED } from '../../calls/call.ts';
import type { LiveRuns } from '../../calls/live-runs.ts';
import { AbpError } from '../../contract/errors.ts';
import { findEngine } from '../../engines/index.ts';
import { spentSince } from '../../receipts/usage/spent.ts';
import { type BudgetChange, changeBudget, createBudget, deleteBudget, listBudgets } from '../../store/budgets/budgets.ts';
import { forgetGrants } from '../../store/budgets/grants.ts';
import { findKey } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import type { SpentOn, SpentSums } from '../../store/usage/spent.ts';
import { FRESH_MS } from '../reload/kept-fresh.ts';
import { Leases, type LeaseWord } from './leases.ts';
import { configuredBudgets, rowOf, spentOn, storedBudget } from './subjects.ts';

/** People and their keys, as far as budgets ask. */
interface Holders {
  holderOf(key: string): KeyHolder | undefined;
  keysOf(kind: 'user' | 'team', id: string): readonly string[];
  /** Whether there is somebody of this name. */
  knows(kind: 'user' | 'team', id: string): boolean;
}

export interface BudgetBookOptions {
  readonly store: Store;
  /** Budgets of the configuration. */
  readonly configured: readonly BudgetTerms[];
  readonly holders: Holders;
  /** Calls whose receipts may not be in the database yet. */
  readonly live: Pick<LiveRuns, 'oldestStart'>;
  /** Resolves when the receipts of all calls that have ended are in the database. */
  readonly settled: () => Promise<void>;
  readonly onThreshold: (account: Account, percent: number) => void;
  readonly onFault: (error: unknown) => void;
  readonly node: string;
  /** The operator's choice for calls beyond this node's part while the database that several share is away. */
  readonly away: 'refuse' | 'allow';
}

/** How long a shared budget that nobody uses here may go without a look at what others have spent. */
const IDLE_MS = 30_000;
/** Parts of the next period are asked for this much before it begins. */
const AHEAD_MS = 15_000;
/** Grants of periods that began before are forgotten: no period is as long. */
const FORGET_MS = 40 * 24 * 3_600_000;
/** How long a reader waits for the receipts of the last calls. */
const SETTLE_MS = 2000;

/** A budget with what has come of it. */
export interface KeptBudget {
  readonly budget: Budget;
  readonly page: Page;
  readonly createdAt: number | null;
}

interface Entry {
  readonly account: Account;
  /** Null for one of the configuration. */
  readonly createdAt: number | null;
  /** Infinity until the ledger has it. */
  heldSince: number;
  /** Calls began before it held any, and count once their receipts are in the database. */
  hasUnheld: boolean;
}

/** All budgets of this installation: read from the database and the configuration, counted in memory, changed by administrators. */
export class BudgetBook {
  readonly ledger: Ledger;
  readonly #options: BudgetBookOptions;
  #configured: readonly Budget[];
  #entries = new Map<string, Entry>();
  #prices: CallPrices | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Where several nodes share the budgets. */
  readonly #leases: Leases | undefined;
  #refreshedAt = 0;
  /** Tells other nodes; nobody, until they are known. */
  #say: (word: LeaseWord, budget: string) => void = () => undefined;
  /** Pages of the periods that begin in a moment, by the id of the budget. */
  readonly #next = new Map<string, Page>();
  /** Whether the budgets of before the start are read: of those that come later nobody has heard what is spent already. */
  #isOpen = false;
  /** One reading at a time: two would make two accounts of one budget. */
  #reading: Promise<void> = Promise.resolve();

  constructor(options: BudgetBookOptions) {
    this.#options = options;
    this.#configured = configuredBudgets(options.configured);
    this.ledger = new Ledger({
      holderOf: (key) => options.holders.holderOf(key),
      onThreshold: options.onThreshold,
      onShort: (account) => this.#leases?.short(account),
      nextPage: (account, window) => this.#nextPage(account, window),
    });
    const { store, node, away, onFault, holders } = options;
    const spent = (on: Budget['on']): SpentOn => spentOn(on, (kind, id) => holders.keysOf(kind, id));
    const say = (word: LeaseWord, budget: string): void => this.#say(word, budget);
    this.#leases = store.kind === 'postgres' ? new Leases({ store, node, away, onFault, spentOn: spent, say }) : undefined;
  }

  /** Reads the budgets and what was spent of them. Every receipt of the past must be in the database. */
  async open(): Promise<void> {
    if (this.#options.store.kind === 'postgres') await forgetGrants(this.#options.store, Date.now() - FORGET_MS);
    await this.read();
    this.#isOpen = true;
    this.#timer = setInterval(() => this.#tick().catch(this.#options.onFault), FRESH_MS);
    this.#timer.unref();
  }

  /** Holds the budgets of the configuration that was read again from now on, with what was spent of them. */
  async reconfigure(terms: readonly BudgetTerms[]): Promise<void> {
    this.#configured = configuredBudgets(terms);
    await this.read().catch(this.#options.onFault);
  }

  /** From now on nodes ask each other for parts that they do not use. */
  connect(say: (word: LeaseWord, budget: string) => void): void {
    this.#say = say;
  }

  /** A notice of another node about a budget. */
  hear(word: LeaseWord, budget: string): void {
    const account = this.#entries.get(budget)?.account;
    if (account !== undefined) this.#leases?.hear(word, account);
  }

  /** Gives back what this node was granted and has not used. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading.catch(() => undefined);
    for (const { account } of this.#entries.values()) await this.#leases?.leave(account).catch(this.#options.onFault);
  }

  /** All budgets as they stand, those of the configuration first. */
  async list(): Promise<KeptBudget[]> {
    await this.#settled();
    for (const { account } of this.#entries.values()) await this.#refresh(account);
    return [...this.#entries.values()].map(kept);
  }

  /** The budgets of somebody, as far as this node has read them. */
  on(kind: Budget['on']['kind'], id: string): KeptBudget[] {
    return [...this.#entries.values()].map(kept).filter(({ budget: { on } }) => on.kind === kind && on.id === id);
  }

  async get(id: string): Promise<KeptBudget> {
    const entry = this.#entry(id);
    await this.#settled();
    await this.#refresh(entry.account);
    return kept(entry);
  }

  async create(terms: BudgetTerms): Promise<KeptBudget> {
    await this.#assertKnown(budgetOf('', terms).on);
    const { id } = await createBudget(this.#options.store, rowOf(terms, Date.now()));
    await this.read();
    return kept(this.#entry(id));
  }

  async change(id: string, change: BudgetChange): Promise<KeptBudget> {
    this.#assertOwn(this.#entry(id));
    await changeBudget(this.#options.store, id, change);
    await this.read();
    return kept(this.#entry(id));
  }

  async remove(id: string): Promise<void> {
    this.#assertOwn(this.#entry(id));
    await deleteBudget(this.#options.store, id);
    await this.read();
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new AbpError('not_found', `There is no budget ${id}.`, { budget: id });
    return entry;
  }

  /** A budget for nobody would hold nobody. Tags and agents may come later. */
  async #assertKnown({ kind, id }: Budget['on']): Promise<void> {
    const { store, holders } = this.#options;
    if (kind === 'tag' || kind === 'agent') return;
    if (kind === 'engine' && findEngine(id) !== undefined) return;
    if (kind === 'key' && (id === UNKEYED || (await findKey(store, id))?.kind === 'user')) return;
    if ((kind === 'user' || kind === 'team') && holders.knows(kind, id)) return;
    throw new AbpError('unprocessable', `There is no ${kind} ${id}.`, { [kind]: id });
  }

  #assertOwn({ account, createdAt }: Entry): void {
    if (createdAt !== null) return;
    throw new AbpError('conflict', 'This budget stands in the configuration; change it there, and read it again: abp config reload.', {
      budget: account.budget.id,
    });
  }

  async #tick(): Promise<void> {
    const now = Date.now();
    if (this.#leases !== undefined) await this.read();
    const all = (await this.#leases?.hasMoved()) === true || performance.now() - this.#refreshedAt > IDLE_MS;
    if (all) this.#refreshedAt = performance.now();
    for (const entry of this.#entries.values()) {
      const { account, heldSince, hasUnheld } = entry;
      account.turn(now, (one, window) => this.#nextPage(one, window));
      if (this.#leases !== undefined) await this.#prepareNext(account, now);
      // Asked before the sums are read: what ends meanwhile is looked for once more.
      entry.hasUnheld = hasUnheld && this.#options.live.oldestStart() <= heldSince;
      const due = this.#leases === undefined ? hasUnheld : all || account.page.touched;
      if (due) await this.#refresh(account);
      this.#tellCrossed(account);
    }
  }

  /** The page of a period that begins: the one that was made ready, else one that has been granted nothing yet. */
  #nextPage({ budget, page: { window: last } }: Account, window: Window): Page {
    const ready = this.#next.get(budget.id);
    this.#next.delete(budget.id);
    if (ready?.window.start === window.start) return ready;
    const page = this.#newPage(budget, window);
    // The clock was set, or stood still: something may have been spent in this period before. One at a time: there may be many budgets.
    if (window.start !== last.end) {
      const before = this.#reading.catch(() => undefined);
      this.#reading = before.then(() => this.#refresh({ budget, page })).catch(this.#options.onFault);
    }
    return page;
  }

  #newPage({ action }: Budget, window: Window): Page {
    const page = new Page(window);
    if (this.#leases !== undefined && action === 'refuse') page.granted = nothing();
    return page;
  }

  /** Asks for a part of the next period before it begins, so that its first calls find one. */
  async #prepareNext({ budget, page }: Account, now: number): Promise<void> {
    if (now < page.window.end - AHEAD_MS || this.#next.has(budget.id)) return;
    const next = this.#newPage(budget, windowAt(budget.period, page.window.end));
    await this.#leases?.renew(budget, next);
    this.#next.set(budget.id, next);
  }

  /** Brings an account up to what the database knows. */
  async #refresh({ budget, page }: Pick<Account, 'budget' | 'page'>): Promise<void> {
    page.touched = false;
    if (this.#leases === undefined) page.raise(await this.#spent({ budget, page }));
    else await this.#leases.renew(budget, page);
  }

  /** Takes over what the database says now; at once after the reading that is under way. */
  read(): Promise<void> {
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#readNow());
    return this.#reading;
  }

  /** Takes over what the database says now. Accounts that stay go on counting. */
  async #readNow(): Promise<void> {
    const rows = await listBudgets(this.#options.store);
    const wanted = [
      ...this.#configured.map((budget) => ({ budget, createdAt: null })),
      ...rows.map((row) => ({ budget: storedBudget(row), createdAt: row.created_at })),
    ];
    if (wanted.some(({ budget }) => budget.limits.nanoUsd !== undefined)) this.#prices ??= await loadPrices();
    const entries = new Map<string, Entry>();
    const made: Account[] = [];
    for (const { budget, createdAt } of wanted) {
      const known = this.#entries.get(budget.id);
      if (known === undefined) made.push(await this.#opened(budget));
      else await this.#changeTerms(known.account, budget);
      const account = known?.account ?? made.at(-1);
      if (account !== undefined)
        entries.set(budget.id, known ?? { account, createdAt, heldSince: Number.POSITIVE_INFINITY, hasUnheld: true });
    }
    this.#entries = entries;
    this.ledger.hold(
      [...entries.values()].map(({ account }) => account),
      this.#prices,
    );
    for (const entry of entries.values()) entry.heldSince = Math.min(entry.heldSince, Date.now());
    if (made.length > 0) await this.#readAgain(made);
    for (const { account } of entries.values()) this.#tellCrossed(account);
  }

  /** Calls that ended while the sums of new accounts were read are held by nobody. */
  async #readAgain(made: readonly Account[]): Promise<void> {
    await this.#settled();
    for (const account of made) {
      await this.#refresh(account);
      account.crossed();
      // At a start somebody else tells what was reached before, and only those who do not know of it yet.
      const percent = this.#isOpen ? account.reached() : 0;
      if (percent > 0) this.#options.onThreshold(account, percent);
    }
  }

  /** Thresholds are also reached without a call here that ends: by calls on other nodes, late receipts, and lower limits. */
  #tellCrossed(account: Account): void {
    const percent = account.crossed();
    if (percent !== undefined) this.#options.onThreshold(account, percent);
  }

  /** A part of other limits is another part: what is not used of it is given back. */
  async #changeTerms(account: Account, budget: Budget): Promise<void> {
    const changed = JSON.stringify(account.budget) !== JSON.stringify(budget);
    account.holdTo(budget);
    if (!changed || this.#leases === undefined) return;
    this.#next.delete(budget.id);
    if (budget.action === 'warn') account.page.granted = undefined;
    else account.page.granted ??= nothing();
    await this.#leases.leave(account);
    await this.#leases.renew(budget, account.page);
  }

  async #opened(budget: Budget): Promise<Account> {
    const page = this.#newPage(budget, windowAt(budget.period, Date.now()));
    await this.#refresh({ budget, page });
    return new Account(budget, page);
  }

  async #spent({ budget, page }: Pick<Account, 'budget' | 'page'>): Promise<Amounts> {
    const { store, holders } = this.#options;
    const on = spentOn(budget.on, (kind, id) => holders.keysOf(kind, id));
    const sums = await spentSince(store, { on, since: page.window.start, until: page.window.end });
    page.unpriced = Math.max(page.unpriced, sums.unpriced);
    return amountsOf(sums);
  }

  /** Waits a moment for the receipts of calls that have ended. */
  async #settled(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, SETTLE_MS);
    await Promise.race([this.#options.settled(), late.promise]);
    clearTimeout(timer);
  }
}

function amountsOf({ nano_usd: nanoUsd, tokens, requests }: SpentSums): Amounts {
  return { nanoUsd, tokens, requests };
}

function kept({ account: { budget, page }, createdAt }: Entry): KeptBudget {
  return { budget, page, createdAt };
}
