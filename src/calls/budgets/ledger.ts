import type { ReceiptUsage } from '../../contract/receipts/parts.ts';
import type { Check, Verdict } from '../admission.ts';
import { type Call, type CallEnding, shareOfOwner } from '../call.ts';
import { type Answers, inputOf, LearnedUse, outputOf, searchesOf, tokensOf } from '../token-bound.ts';
import { type Account, exceeded, type Page } from './account.ts';
import type { Amounts, SubjectKind } from './budget.ts';
import type { Window } from './period.ts';
import type { CallPrice, CallPrices } from './prices.ts';

/** The keeper of the budgets, as far as the ledger asks it something and tells it something. */
export interface LedgerOutlook {
  /** Whose key it is; undefined for one that is nobody's. */
  readonly holderOf: (key: string) => KeyHolder | undefined;
  /** A budget has reached this share of its limit, in percent. */
  readonly onThreshold: (account: Account, percent: number) => void;
  /** A call did not fit into what this node was granted, or nearly not. It is told often: the hearer decides when to ask for more. */
  readonly onShort: (account: Account) => void;
  /** The page that was made ready for the period that begins. */
  readonly nextPage: (account: Account, window: Window) => Page;
}

/** The people on whose behalf a key is used. */
export interface KeyHolder {
  readonly user?: string | undefined;
  readonly teams: readonly string[];
}

/** The accounts of all budgets in memory, and the check that holds calls to them. */
export class Ledger {
  readonly #outlook: LedgerOutlook;
  readonly #learned = new LearnedUse();
  #bySubject: Partial<Record<SubjectKind, ReadonlyMap<string, readonly Account[]>>> = {};
  #accounts: ReadonlyMap<string, Account> = new Map();
  #prices: CallPrices | undefined;

  constructor(outlook: LedgerOutlook) {
    this.#outlook = outlook;
  }

  get accounts(): ReadonlyMap<string, Account> {
    return this.#accounts;
  }

  /** Takes these accounts instead of those it has. `prices` are needed where some of them count dollars. */
  hold(accounts: readonly Account[], prices: CallPrices | undefined): void {
    const bySubject: Partial<Record<SubjectKind, Map<string, Account[]>>> = {};
    for (const account of accounts) {
      const { kind, id } = account.budget.on;
      bySubject[kind] ??= new Map();
      const others = bySubject[kind].get(id) ?? [];
      bySubject[kind].set(id, [...others, account]);
    }
    this.#bySubject = bySubject;
    this.#accounts = new Map(accounts.map((account) => [account.budget.id, account]));
    this.#prices = prices;
  }

  /** Reserves what a call may use, and settles what it has used. */
  readonly check: Check = {
    name: 'budgets',
    check: (call): Verdict => {
      if (this.#accounts.size === 0) return undefined;
      const accounts = this.#of(call);
      if (accounts.length === 0) return undefined;
      // The calls of a run that come back through the gateway are held one by one; the run itself only must not start in vain.
      if (call.way === 'run' && call.direct !== true) return this.#mayStart(accounts);
      return this.#reserve(call, accounts);
    },
  };

  /** The accounts that a call is on: of its key, its user and team, its agent, its tags and its engine. */
  #of(call: Call): readonly Account[] {
    const { owner, engine } = call;
    const { key, user, team, tag, agent, engine: engines } = this.#bySubject;
    const caller = shareOfOwner(owner);
    let found = joined(NO_ACCOUNTS, key?.get(caller));
    if (engine !== null) found = joined(found, engines?.get(engine));
    if (user !== undefined || team !== undefined) {
      const holder = this.#outlook.holderOf(caller);
      found = joined(found, user?.get(holder?.user ?? ''));
      for (const one of holder?.teams ?? []) found = joined(found, team?.get(one));
    }
    if (tag !== undefined) for (const one of new Set(owner.tags)) found = joined(found, tag.get(one));
    if (agent !== undefined) for (const one of agentsOf(call)) found = joined(found, agent.get(one));
    return found;
  }

  #mayStart(accounts: readonly Account[]): Verdict {
    const now = Date.now();
    for (const account of accounts) {
      account.turn(now, this.#outlook.nextPage);
      const measure = account.budget.action === 'refuse' ? account.spent() : undefined;
      if (measure !== undefined) return exceeded(account, { measure, passing: false }, now);
    }
    return undefined;
  }

  #reserve(call: Call, accounts: readonly Account[]): Verdict {
    const now = Date.now();
    const answers = this.#learned.of(call);
    const price = this.#prices?.(call.engine, call.model);
    const wanted = wantedOf(call, answers, price);
    for (const account of accounts) {
      account.turn(now, this.#outlook.nextPage);
      if (account.budget.action === 'warn') continue;
      const shortage = account.shortage(wanted, now);
      if (shortage === undefined) continue;
      add(account.page.wanted, wanted, 1);
      if (account.page.granted !== undefined) this.#outlook.onShort(account);
      return exceeded(account, shortage, now);
    }
    const pages: Page[] = [];
    for (const account of accounts) {
      const { page } = account;
      pages.push(page);
      add(page.reserved, wanted, 1);
      page.touched = true;
      if (account.isNearlyShort()) this.#outlook.onShort(account);
    }
    return (ending) => this.#settle(call, { accounts, pages, wanted, answers, price }, ending);
  }

  #settle(call: Call, { accounts, pages, wanted, answers, price }: Reservation, ending: CallEnding): void {
    for (const { reserved } of pages) add(reserved, wanted, -1);
    // It came to no engine, or another try takes its place and counts instead.
    if (ending.status === 'refused' || ending.status === 'dropped') return;
    const { usage } = ending;
    const nanoUsd = this.#costOf(call, price, ending);
    this.#learned.hear(call, answers, ending, surchargeOf(call, price, { usage, nanoUsd }));
    const used: Amounts = { nanoUsd: nanoUsd ?? 0, tokens: usage === null ? 0 : tokensOf(usage), requests: 1 };
    for (const page of pages) {
      add(page.settled, used, 1);
      page.touched = true;
      if (nanoUsd === undefined && usage !== null) page.unpriced += 1;
    }
    for (let at = 0; at < accounts.length; at += 1) {
      const account = accounts[at];
      const percent = account?.page === pages[at] ? account?.crossed() : undefined;
      if (account !== undefined && percent !== undefined) this.#outlook.onThreshold(account, percent);
    }
  }

  /** Another model may have answered than the one that was asked for. */
  #costOf({ engine, model }: Call, price: CallPrice | undefined, { usage, upstreamModel, nanoUsd }: CallEnding): number | undefined {
    if (nanoUsd !== null || usage === null) return nanoUsd ?? undefined;
    // What is billed by the piece may have a price without a model.
    const named = upstreamModel ?? model ?? '';
    const answered = named === model ? price : this.#prices?.(engine, named);
    return answered?.of(usage);
  }
}

/** The most that a call may use, by its own word and by what those before it came to. */
function wantedOf(call: Call, answers: Answers, price: CallPrice | undefined): Amounts {
  const input = inputOf(call, answers);
  const output = outputOf(call, answers);
  const tokens = input + output;
  if (price === undefined) return { nanoUsd: answers.surcharge, tokens, requests: 1 };
  const { hourCache, ways } = call.bound ?? {};
  const most = price.most({ input, output, hourCache, ways, searches: searchesOf(call, answers) }) ?? 0;
  return { nanoUsd: most + answers.surcharge, tokens, requests: 1 };
}

/**
 * What a call cost beyond the most that its tokens might have: searches, media, a way of serving that it did not ask for. All of it where the name
 * that was asked for has no price, and the model that answered has one: names of deployments are of that kind.
 */
function surchargeOf(
  { bound }: Call,
  price: CallPrice | undefined,
  { usage, nanoUsd }: { usage: ReceiptUsage | null; nanoUsd: number | undefined },
): number {
  if (usage === null || nanoUsd === undefined) return 0;
  if (price === undefined) return nanoUsd;
  const { hourCache, ways } = bound ?? {};
  return Math.max(0, nanoUsd - (price.most({ input: usage.input_tokens, output: usage.output_tokens, hourCache, ways }) ?? nanoUsd));
}

const NO_ACCOUNTS: readonly Account[] = [];

/** Most calls are on one account or none: no list is made for those. */
function joined(found: readonly Account[], more: readonly Account[] = NO_ACCOUNTS): readonly Account[] {
  if (more.length === 0) return found;
  return found.length === 0 ? more : [...found, ...more];
}

const AGENT_TAG = 'agent:';

/** The coding agent that a run starts or that calls, and the agent whose turn it is: its id is a tag of its calls and of the runs it asks for. */
function agentsOf({ agent, owner: { scopes, tags } }: Call): ReadonlySet<string> {
  const coding = agent ?? scopes?.run?.agent;
  const ids = tags.filter((tag) => tag.startsWith(AGENT_TAG)).map((tag) => tag.slice(AGENT_TAG.length));
  return new Set(coding === undefined ? ids : [coding, ...ids]);
}

interface Reservation {
  readonly accounts: readonly Account[];
  readonly pages: readonly Page[];
  readonly wanted: Amounts;
  readonly answers: Answers;
  /** Of the model that was asked for. */
  readonly price: CallPrice | undefined;
}

function add(sum: Amounts, amounts: Readonly<Amounts>, sign: 1 | -1): void {
  // Written out: every call adds several times.
  sum.nanoUsd += sign * amounts.nanoUsd;
  sum.tokens += sign * amounts.tokens;
  sum.requests += sign * amounts.requests;
}
