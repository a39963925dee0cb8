import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { endInTurn } from '../base/end-all.ts';
import type { JsonObject } from '../base/json.ts';
import type { ModelContext } from '../calls/model-call.ts';
import { AbpError } from '../contract/errors.ts';
import type { RouteRow } from '../mapping/route.ts';
import { listEvents } from '../store/agent-plane/session-events.ts';
import type { StoredSession } from '../store/agent-plane/sessions.ts';
import { DELTAS_CHANNEL, tell } from '../store/databases/notices.ts';
import type { Store } from '../store/store.ts';
import { newId } from './ids.ts';
import { hearOthers } from './notices.ts';
import type { SessionParts } from './parts.ts';
import { DeltaGatherer, Deltas } from './sessions/deltas.ts';
import { openFeed } from './sessions/feed.ts';
import { Hub } from './sessions/hub.ts';
import { eventView, sequenceOf } from './sessions/session-event.ts';
import { Transcripts } from './sessions/transcripts.ts';
import type { AgentSource } from './turns/turn-agent.ts';
import { Worker, type WorkerOptions } from './turns/worker.ts';

export interface SessionServiceOptions {
  readonly store: Store;
  readonly calls: ModelContext;
  /** Whether a turn that was begun with this key may still call a model. */
  readonly mayGoOn: (keyId: string) => Promise<boolean>;
  readonly agents: AgentSource;
  readonly routes: () => readonly RouteRow[];
  /** The home's folder; workspaces lie in it. */
  readonly homePath: string;
  /** How this process works on turns. */
  readonly worker: Omit<WorkerOptions, 'graceMs'> & { readonly graceMs?: number | undefined };
  readonly heartbeatMs?: number;
  readonly log: Logger;
}

const GRACE_MS = 20_000;
const HEARTBEAT_MS = 15_000;

/** Sessions and turns of one process: what routes ask, the worker on turns, and the feeds of events. */
export class SessionService {
  readonly parts: SessionParts;
  readonly worker: Worker;
  readonly #heartbeatMs: number;
  readonly #gatherer: DeltaGatherer | undefined;
  #unhear: (() => Promise<void>) | undefined;

  constructor(options: SessionServiceOptions) {
    const { store, calls, mayGoOn, agents, routes, log } = options;
    const workerId = newId('worker');
    const hub = new Hub();
    const gatherer = store.kind === 'sqlite' ? undefined : gathererOf(store, workerId, log);
    this.parts = {
      ...{ store, calls, mayGoOn, agents, hub, log, workerId, origin: workerId },
      get routes() {
        return routes();
      },
      deltas: gatherer === undefined ? new Deltas(hub) : new Deltas(hub, gatherer),
      transcripts: new Transcripts(store),
      workspaces: join(options.homePath, 'workspaces'),
    };
    this.#gatherer = gatherer;
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.worker = new Worker(this.parts, { ...options.worker, graceMs: options.worker.graceMs ?? GRACE_MS });
  }

  /** The events of a session after a place, then what happens. */
  feed(session: StoredSession, after: number): Readable {
    const { store, hub, deltas } = this.parts;
    return openFeed({ store, hub, deltas, sessionId: session.id, after, heartbeatMs: this.#heartbeatMs });
  }

  async events(session: StoredSession, range: { readonly after: number; readonly limit: number }): Promise<JsonObject[]> {
    return (await listEvents(this.parts.store, { sessionId: session.id, ...range })).map(eventView);
  }

  /** Takes up unfinished turns and begins to hear of other processes, which are on the database at this address. */
  async start(databaseUrl: string | undefined): Promise<void> {
    if (databaseUrl !== undefined && this.parts.store.kind === 'postgres')
      this.#unhear = await hearOthers(this.parts, this.worker, databaseUrl);
    await this.worker.start();
  }

  /** Ends every open stream of events, so that a server can close. */
  endFeeds(): void {
    this.parts.hub.tellAll({ kind: 'closed', reason: 'shutdown' });
  }

  async close(): Promise<void> {
    await endInTurn(
      () => this.worker.stop(),
      () => this.#gatherer?.stop(),
      () => this.#unhear?.(),
    );
  }
}

/** The place that the id of an event names; the beginning without one. */
export function placeOf(session: StoredSession, eventId: string | undefined): number {
  if (eventId === undefined || eventId === '') return 0;
  const sequence = sequenceOf(session.id, eventId);
  if (sequence === undefined || sequence > session.sequence) {
    throw new AbpError('invalid_request', `"${eventId}" is not the id of an event of this session.`, { event_id: eventId });
  }
  return sequence;
}

function gathererOf(store: Store, origin: string, log: Logger): DeltaGatherer {
  return new DeltaGatherer(origin, (payloads) => {
    tell(store, store.db, DELTAS_CHANNEL, payloads).catch((error: unknown) =>
      log.warn({ error }, 'parts of answers did not reach other processes'),
    );
  });
}
