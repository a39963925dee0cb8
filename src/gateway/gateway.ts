import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Admitted } from '../calls/admission.ts';
import type { CallContext } from '../calls/context.ts';
import type { RunId } from '../contract/run-id.ts';
import type { Home } from '../home/home.ts';
import type { AgentPlane } from '../platform/agents/agent-plane.ts';
import type { SessionService } from '../platform/session-service.ts';
import type { Keeper } from '../receipts/keeper/keeper.ts';
import type { CodingAgents } from '../runtime/coding-agents/coding-agents.ts';
import type { RunService } from '../runtime/runs/service.ts';
import type { WorkOrders } from '../runtime/work-orders/work-orders.ts';
import type { BodyShelf } from '../store/recordings/body-shelf.ts';
import type { Store } from '../store/store.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { KeyRing } from './auth/key-ring.ts';
import type { BudgetBook } from './budgets/budget-book.ts';
import type { BudgetNotices } from './budgets/budget-notices.ts';
import type { Config } from './config.ts';
import type { ConsoleFiles } from './console/console-files.ts';
import type { ConsoleSessions } from './console/console-sessions.ts';
import type { Tickets } from './door/tickets.ts';
import type { AnsweredQuestions } from './inbox/answered-questions.ts';
import type { LimitTable } from './limits/limit-table.ts';
import type { LiveRoutes } from './live-routes.ts';
import type { People } from './people/people.ts';
import type { Siblings } from './processes/siblings.ts';
import type { PushNotes } from './push/push-notes.ts';
import type { Reloader } from './reload/reloader.ts';
import type { SharedChanges } from './reload/shared-changes.ts';
import type { KeyCaches } from './response-cache.ts';
import type { AttachedRuns } from './run-plane/attached-runs.ts';
import type { SignIns } from './sign-in/sign-ins.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

/** The run plane's memory. Its parts are made when somebody first asks, so that a start does not wait for them. */
interface RunPlane {
  /** Runs of coding agents that were let in and have not ended. */
  readonly admitted: Map<RunId, Admitted>;
  /** Ids that callers have made for runs that are under way here. */
  readonly claimed: Set<RunId>;
  agents?: Promise<CodingAgents>;
  service?: Promise<RunService>;
  workOrders?: Promise<WorkOrders>;
  attached?: AttachedRuns;
}

/** Everything a request can reach. Made once at start. */
export interface Gateway {
  /** The configuration in effect; another object after it was read again. */
  readonly config: Config;
  readonly reloader: Reloader;
  readonly home: Home;
  readonly store: Store;
  /** Recorded bodies of this node; the keeper writes, everybody else reads. */
  readonly shelf: BodyShelf;
  readonly keeper: Keeper;
  readonly keys: KeyRing;
  /** Users and teams. */
  readonly people: People;
  /** The amounts that operators allow callers, tags, agents and engines to spend. */
  readonly budgets: BudgetBook;
  /** Tells who wants to know that a budget is used up to a share. */
  readonly budgetNotices: BudgetNotices;
  /** Requests, tokens and calls at a time that each caller may have. */
  readonly limits: LimitTable;
  /** Tells other nodes of the database that this one has changed such tables, and hears of theirs; undefined where there is no other. */
  sharedChanges: SharedChanges | undefined;
  /** Which models go where. */
  readonly routes: LiveRoutes;
  /** Keys whose answers are given again. */
  readonly caches: KeyCaches;
  /** The means of every call to an engine. */
  readonly calls: CallContext;
  readonly runPlane: RunPlane;
  /** Agents and their capabilities. */
  readonly agents: AgentPlane;
  /** Sessions and turns. */
  readonly sessions: SessionService;
  /** Browsers that are signed in, and the pages they get. */
  readonly browsers: {
    readonly sessions: ConsoleSessions;
    readonly tickets: Tickets;
    readonly files: ConsoleFiles;
    readonly answered: AnsweredQuestions;
    /** Tells them that something waits; absent where the operator has not switched it on. */
    notes?: PushNotes;
  };
  /** Who changed what, and who read what belongs to others. */
  readonly audit: AuditLog;
  /** Addresses of the operator that are told what happens. */
  readonly webhooks: Webhooks;
  /** Counts and lines by which this server is watched. */
  readonly telemetry: Telemetry;
  /** People who sign in with an issuer; absent where none is configured. */
  readonly signIns?: SignIns;
  readonly log: Logger;
  readonly version: string;
  /** Aborts when the server is about to close: answers without an end of their own end then. */
  readonly closing: AbortSignal;
  /** Where this server answers; known once it listens. */
  url: string;
  /** Where this process answers: another address than `url` when several processes share that one. */
  ownUrl: string;
  /** Set when the server is about to stop, and still takes calls until those who balance over servers have noticed. */
  draining: boolean;
  /** The other processes that share the port, where there are any. */
  readonly siblings: Siblings | undefined;
  /** Takes a connection that came out of the room of a run; there once the server listens. */
  takeConnection: ((run: RunId, socket: Socket) => void) | undefined;
}
