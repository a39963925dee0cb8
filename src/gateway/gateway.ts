import type { Logger } from 'pino';
import type { Admission, Admitted } from '../calls/admission.ts';
import type { Deployment } from '../calls/deployment.ts';
import type { LargeBodies } from '../calls/large-bodies/large-bodies.ts';
import type { LiveRuns } from '../calls/live-runs.ts';
import type { RunId } from '../contract/run-id.ts';
import type { Home } from '../home/home.ts';
import type { AgentPlane } from '../platform/agents/agent-plane.ts';
import type { Platform } from '../platform/platform.ts';
import type { Keeper } from '../receipts/keeper/keeper.ts';
import type { BodyShelf } from '../store/recordings/body-shelf.ts';
import type { Store } from '../store/store.ts';
import type { KeyRing } from './auth/key-ring.ts';
import type { Config } from './config.ts';
import type { BodyBudget } from './vendor/body.ts';

/** Everything a request can reach. Made once at start. */
export interface Gateway {
  readonly config: Config;
  readonly home: Home;
  readonly store: Store;
  /** Recorded bodies of this node; the keeper writes, everybody else reads. */
  readonly shelf: BodyShelf;
  readonly keeper: Keeper;
  readonly live: LiveRuns;
  readonly keys: KeyRing;
  readonly deployments: ReadonlyMap<string, Deployment>;
  /** What every call passes on its way to an engine. */
  readonly admission: Admission;
  /** Runs of coding agents that were let in and have not ended. */
  readonly admittedRuns: Map<RunId, Admitted>;
  readonly budget: BodyBudget;
  /** Translates what would keep other calls waiting. */
  readonly large: LargeBodies;
  /** Agents and their capabilities. */
  readonly agents: AgentPlane;
  /** Sessions and turns. */
  readonly platform: Platform;
  readonly log: Logger;
  readonly version: string;
  /** Aborts when the server is about to close: answers without an end of their own end then. */
  readonly closing: AbortSignal;
  /** Where this server answers; known once it listens. */
  url: string;
}
