import type { Logger } from 'pino';
import { CallLimits } from '../../calls/limits/call-limits.ts';
import type { LiveRuns } from '../../calls/live-runs.ts';
import type { Keeper } from '../../receipts/keeper/keeper.ts';
import type { Store } from '../../store/store.ts';
import { BudgetBook } from '../budgets/budget-book.ts';
import { BudgetNotices } from '../budgets/budget-notices.ts';
import { LEASE_WORDS } from '../budgets/leases.ts';
import type { Config } from '../config.ts';
import type { Deployed } from '../deployments.ts';
import type { Gateway } from '../gateway.ts';
import { openShares } from '../limits/limit-shares.ts';
import { LimitTable } from '../limits/limit-table.ts';
import { LiveRoutes } from '../live-routes.ts';
import { People } from '../people/people.ts';
import { KeyCaches } from '../response-cache.ts';
import { keepFresh } from './kept-fresh.ts';
import type { Prepare } from './reloader.ts';
import { SharedChanges } from './shared-changes.ts';

type Closers = (() => void | Promise<void>)[];

interface Keeping {
  readonly store: Store;
  readonly keeper: Keeper;
  readonly live: LiveRuns;
  readonly log: Logger;
  readonly node: string;
}

async function routesOf(config: Config, keeping: Pick<Keeping, 'store' | 'log'>, closers: Closers): Promise<LiveRoutes> {
  const routes = new LiveRoutes(keeping.store, config);
  await keepFresh(routes, 'routes', keeping, closers);
  return routes;
}

/** The tables that operators change while the server runs: routes, people, and what they are held to. */
export async function heldTo(
  config: Config,
  keeping: Keeping & Pick<Gateway, 'webhooks'>,
  closers: Closers,
): Promise<Pick<Gateway, 'routes' | 'people' | 'limits' | 'budgets' | 'budgetNotices' | 'caches'>> {
  const { store, log, webhooks } = keeping;
  const people = new People(store);
  await keepFresh(people, 'users and teams', keeping, closers);
  const budgetNotices = new BudgetNotices(webhooks, log);
  const caches = new KeyCaches(store);
  await keepFresh(caches, 'caches of keys', keeping, closers);
  return {
    routes: await routesOf(config, keeping, closers),
    people,
    caches,
    limits: await limitsOf(config, people, keeping, closers),
    budgets: budgetsOf(config, people, { ...keeping, budgetNotices }, closers),
    budgetNotices,
  };
}

async function limitsOf(config: Config, people: People, keeping: Keeping, closers: Closers): Promise<LimitTable> {
  const limits = new LimitTable(keeping.store, CallLimits.strip().parse(config.limits), {
    engines: engineLimits(config),
    teamsOf: (key) => people.teamsOf(key),
    ofTeam: (team) => people.limitsOf(team),
    shares: await openShares(keeping, closers),
  });
  await keepFresh(limits, 'limits of keys', keeping, closers);
  return limits;
}

function engineLimits({ engines }: Config): ReadonlyMap<string, CallLimits> {
  return new Map(Object.entries(engines).flatMap(([id, { limits }]) => (limits === undefined ? [] : [[id, limits] as const])));
}

/** Who takes the configuration over when it is read again: engines, limits, routes, and last budgets, which are read from the database. */
export function preparesOf(
  { prepare }: Deployed,
  { limits, routes, budgets }: Pick<Gateway, 'limits' | 'routes' | 'budgets'>,
): readonly Prepare[] {
  const limitChanges: Prepare = (config) => {
    const [everybody, engines] = [CallLimits.strip().parse(config.limits), engineLimits(config)];
    return () => limits.reconfigure(everybody, engines);
  };
  return [prepare, limitChanges, (config) => () => routes.reconfigure(config), (config) => () => budgets.reconfigure(config.budgets)];
}

/** They are opened once the past is settled: what is spent is added up from receipts. */
function budgetsOf(
  config: Config,
  people: People,
  { store, keeper, live, log, node, budgetNotices }: Keeping & Pick<Gateway, 'budgetNotices'>,
  closers: Closers,
): BudgetBook {
  const budgets = new BudgetBook({
    ...{ store, live, node },
    away: config.limits.budgets_away,
    configured: config.budgets,
    holders: people,
    settled: () => keeper.settled(),
    onThreshold: (account, percent) => budgetNotices.tell(account, percent),
    onFault: (error) => log.warn({ error }, 'budgets could not be read again; those known before hold'),
  });
  closers.push(() => budgets.close());
  return budgets;
}

/** Reads the tables again when another node has changed something in them; undefined where there is no other. */
export async function openSharedChanges(
  gateway: Pick<Gateway, 'store' | 'people' | 'caches' | 'routes' | 'limits' | 'budgets' | 'keys' | 'browsers' | 'log'>,
  { url, node }: { readonly url: string | undefined; readonly node: string },
  closers: Closers,
): Promise<SharedChanges | undefined> {
  const { store, people, caches, routes, limits, budgets, keys, browsers, log } = gateway;
  if (store.kind !== 'postgres' || url === undefined) return undefined;
  const read = async (): Promise<void> => {
    await people.read();
    await Promise.all([caches.read(), routes.read(), limits.read()]);
    keys.doubt();
    browsers.sessions.forget();
    await budgets.read();
  };
  const onWord = (said: string, id: string): void => {
    const word = LEASE_WORDS.find((one) => one === said);
    if (word !== undefined) budgets.hear(word, id);
  };
  const changes = new SharedChanges({ store, url, node, read, onWord, log });
  closers.push(() => changes.close());
  await changes.open();
  budgets.connect((word, id) => changes.say(word, id));
  return changes;
}
