import type { Logger } from 'pino';
import type { Deployment } from '../calls/deployment.ts';
import type { LiveRuns } from '../calls/live-runs.ts';
import type { Policy } from '../calls/policy.ts';
import type { Keeper } from '../receipts/keeper.ts';
import type { Home } from '../store/home.ts';
import type { Store } from '../store/store.ts';
import type { KeyRing } from './auth/key-ring.ts';
import type { Config } from './config.ts';
import type { BodyBudget } from './vendor/body.ts';

/** Everything a request can reach. Made once at start. */
export interface Gateway {
  readonly config: Config;
  readonly home: Home;
  readonly store: Store;
  readonly keeper: Keeper;
  readonly live: LiveRuns;
  readonly keys: KeyRing;
  readonly deployments: ReadonlyMap<string, Deployment>;
  /** Asked before every call to an engine. */
  readonly policy: Policy;
  readonly budget: BodyBudget;
  readonly log: Logger;
  readonly version: string;
  /** Where this server answers; known once it listens. */
  url: string;
}
