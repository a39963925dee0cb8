import type { Logger } from 'pino';
import { Admission, type Check } from '../calls/admission.ts';
import { Batch } from '../calls/batch.ts';
import { BodyBudget } from '../calls/bounds/body-budget.ts';
import { shares } from '../calls/bounds/shares.ts';
import type { CallContext } from '../calls/context.ts';
import { type DeniedEngines, deniedEngines } from '../calls/denied-engines.ts';
import { deniedTools } from '../calls/denied-tools.ts';
import type { QueueBounds } from '../calls/limits/fair-queue.ts';
import { rateCheck } from '../calls/limits/rate-check.ts';
import type { ToolRules } from '../mapping/tools/tool-rules.ts';
import type { Keeper } from '../receipts/keeper/keeper.ts';
import type { Store } from '../store/store.ts';
import type { KeyRing } from './auth/key-ring.ts';
import { isOurSecret } from './auth/principal.ts';
import type { BudgetBook } from './budgets/budget-book.ts';
import type { Config } from './config.ts';
import { countedResultsOf } from './counted-results.ts';
import { connectionsOf } from './deployments.ts';
import type { LimitTable } from './limits/limit-table.ts';
import type { LiveRoutes } from './live-routes.ts';

const MIB = 1024 * 1024;

/** The parts of a server that calls need, while it is being put together. */
export interface CallSurroundings extends Pick<CallContext, 'live' | 'deployments' | 'large' | 'cache' | 'version' | 'traces'> {
  /** Checks of the one who starts the server. */
  readonly checks: readonly Check[];
  readonly routes: LiveRoutes;
  readonly limits: LimitTable;
  readonly budgets: BudgetBook;
  readonly keeper: Keeper;
  readonly keys: KeyRing;
  readonly log: Logger;
  readonly store: Store;
}

/** Calls to engines as the configuration wants them. */
export function callContextOf(
  current: () => Config,
  { checks, routes, limits, budgets, keeper, keys, log, store, ...shared }: CallSurroundings,
): CallContext {
  const config = current();
  const policy = new PolicyInEffect(current);
  return {
    ...shared,
    sink: keeper,
    batch: new Batch(keeper),
    counted: countedResultsOf(store, log),
    admission: new Admission([policy.check, ...checksOf(config, checks, { limits, budgets })]),
    // Read for every call: operators change them while the server runs.
    get routes() {
      return routes.rows;
    },
    get denied() {
      return policy.denied;
    },
    get toolRules() {
      return policy.toolRules;
    },
    budget: new BodyBudget(config.limits.in_flight_mb * MIB),
    isOurs: (secret) => isOurSecret(secret) || keys.isToken(secret),
    onFault: (error, run) => log.error({ error, run }, 'the answer of a run could not be read'),
  };
}

/**
 * Every check that a call passes behind the policy of the configuration: those of the one who starts the server, budgets, the share and the
 * limits of each caller.
 */
function checksOf(
  config: Config,
  checks: readonly Check[],
  { limits, budgets }: Pick<CallSurroundings, 'limits' | 'budgets'>,
): readonly Check[] {
  const divided = shares({ calls: (engine) => connectionsOf(config, engine), runs: config.limits.runs });
  return [
    ...checks,
    budgets.ledger.check,
    divided,
    rateCheck(
      (call) => limits.heldTo(call),
      boundsOf(config),
      (listener) => limits.onChange(listener),
    ),
  ];
}

/** How long calls wait for room under a limit; undefined where they are refused at once. */
function boundsOf({ limits: { wait_s: seconds, waiting } }: Config): QueueBounds | undefined {
  return seconds === undefined ? undefined : { waitMs: seconds * 1000, most: waiting };
}

/** The policy of the configuration in effect. It is made anew when that changes, and asked on every call. */
class PolicyInEffect {
  readonly #current: () => Config;
  #of: Config['policy'] | undefined;
  #checks: readonly Check[] = [];
  #toolRules: readonly ToolRules[] = [];
  #denied: DeniedEngines = { engines: [], models: [] };

  constructor(current: () => Config) {
    this.#current = current;
  }

  readonly check: Check = {
    name: 'policy',
    check: (call) => {
      this.#renew();
      for (const { check } of this.#checks) {
        const verdict = check(call);
        if (verdict !== undefined) return verdict;
      }
      return undefined;
    },
  };

  get denied(): DeniedEngines {
    this.#renew();
    return this.#denied;
  }

  get toolRules(): readonly ToolRules[] {
    this.#renew();
    return this.#toolRules;
  }

  #renew(): void {
    const config = this.#current();
    if (config.policy === this.#of) return;
    this.#of = config.policy;
    this.#checks = policyChecks(config);
    this.#toolRules = toolRules(config);
    this.#denied = deniedOf(config);
  }
}

/** An installation that denies nothing asks of a call only which way it takes: a run may deny tools to its own. */
function policyChecks(config: Config): Check[] {
  const denied = deniedOf(config);
  return [...(denied.engines.length + denied.models.length === 0 ? [] : [deniedEngines(denied)]), deniedTools(toolRules(config))];
}

function deniedOf({ policy: { deny_engines: engines, deny_models: models } }: Config): DeniedEngines {
  return { engines, models };
}

function toolRules({ policy: { allowed_tools: allowed = [], disallowed_tools: denied = [] } }: Config): ToolRules[] {
  return allowed.length + denied.length === 0 ? [] : [{ allowed, denied }];
}
