import { Account, Page } from '../../calls/budgets/account.ts';
import { type Amounts, type Budget, type BudgetTerms, budgetOf } from '../../calls/budgets/budget.ts';
import { type KeyHolder, Ledger } from '../../calls/budgets/ledger.ts';
import { windowAt } from '../../calls/budgets/period.ts';
import { type CallPrices, loadPrices } from '../../calls/budgets/prices.ts';
import { UNKEYED } from '../../calls/call.ts';
import { AbpError } from '../../contract/errors.ts';
import { findEngine } from '../../engines/index.ts';
import { spentSince } from '../../receipts/usage/spent.ts';
import { type BudgetChange, changeBudget, createBudget, deleteBudget, listBudgets } from '../../store/budgets/budgets.ts';
import { findKey } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import type { SpentSums } from '../../store/usage/spent.ts';
import { configuredBudget, rowOf, spentOn, storedBudget } from './subjects.ts';

/** People and their keys, as far as budgets ask. */
export interface Holders {
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
  /** Resolves when the receipts of all calls that have ended are in the database. */
  readonly settled: () => Promise<void>;
  readonly onThreshold: (account: Account, percent: number) => void;
  readonly onFault: (error: unknown) => void;
}

/** Other nodes on the same database hear of a change this much later at the latest. */
const FRESH_MS = 5000;
/** Calls that were under way when a budget was made have ended by then. */
const YOUNG_MS = 20 * 60_000;
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
  readonly heldSince: number;
}

/** All budgets of this installation: read from the database and the configuration, counted in memory, changed by administrators. */
export class BudgetBook {
  readonly ledger: Ledger;
  readonly #options: BudgetBookOptions;
  readonly #configured: readonly Budget[];
  #entries = new Map<string, Entry>();
  #prices: CallPrices | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** One reading at a time: two would make two accounts of one budget. */
  #reading: Promise<void> = Promise.resolve();

  constructor(options: BudgetBookOptions) {
    this.#options = options;
    this.#configured = options.configured.map(configuredBudget);
    this.ledger = new Ledger({
      holderOf: (key) => options.holders.holderOf(key),
      onThreshold: options.onThreshold,
      onShort: () => undefined,
      nextPage: (_account, window) => new Page(window),
    });
  }

  /** Reads the budgets and what was spent of them. Every receipt of the past must be in the database. */
  async open(): Promise<void> {
    await this.#read();
    this.#timer = setInterval(() => this.#tick().catch(this.#options.onFault), FRESH_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** All budgets as they stand, those of the configuration first. */
  async list(): Promise<KeptBudget[]> {
    await this.#settled();
    for (const { account } of this.#entries.values()) account.page.raise(await this.#spent(account));
    return [...this.#entries.values()].map(kept);
  }

  async get(id: string): Promise<KeptBudget> {
    const entry = this.#entry(id);
    await this.#settled();
    entry.account.page.raise(await this.#spent(entry.account));
    return kept(entry);
  }

  async create(terms: BudgetTerms): Promise<KeptBudget> {
    await this.#assertKnown(budgetOf('', terms).on);
    const { id } = await createBudget(this.#options.store, rowOf(terms, Date.now()));
    await this.#read();
    return kept(this.#entry(id));
  }

  async change(id: string, change: BudgetChange): Promise<KeptBudget> {
    this.#assertOwn(this.#entry(id));
    await changeBudget(this.#options.store, id, change);
    await this.#read();
    return kept(this.#entry(id));
  }

  async remove(id: string): Promise<void> {
    this.#assertOwn(this.#entry(id));
    await deleteBudget(this.#options.store, id);
    await this.#read();
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
    throw new AbpError('conflict', 'This budget stands in the configuration; change it there and start the server anew.', {
      budget: account.budget.id,
    });
  }

  async #tick(): Promise<void> {
    if (this.#options.store.kind === 'postgres') await this.#read();
    const now = Date.now();
    const young = [...this.#entries.values()].filter(({ heldSince }) => now - heldSince < YOUNG_MS);
    for (const { account } of young) account.page.raise(await this.#spent(account));
  }

  #read(): Promise<void> {
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
      else known.account.budget = budget;
      const account = known?.account ?? made.at(-1);
      if (account !== undefined) entries.set(budget.id, { account, createdAt, heldSince: known?.heldSince ?? Date.now() });
    }
    this.#entries = entries;
    this.ledger.hold(
      [...entries.values()].map(({ account }) => account),
      this.#prices,
    );
    if (made.length === 0) return;
    // Calls that ended while the sums were read, and are held by nobody.
    await this.#settled();
    for (const account of made) account.page.raise(await this.#spent(account));
  }

  async #opened(budget: Budget): Promise<Account> {
    const page = new Page(windowAt(budget.period, Date.now()));
    page.raise(await this.#spent({ budget, page }));
    return new Account(budget, page);
  }

  async #spent({ budget, page }: Pick<Account, 'budget' | 'page'>): Promise<Amounts> {
    const { store, holders } = this.#options;
    const on = spentOn(budget.on, (kind, id) => holders.keysOf(kind, id));
    const sums = await spentSince(store, { on, since: page.window.start });
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
