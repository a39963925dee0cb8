import type { Logger } from 'pino';
import type { ModelContext } from '../calls/model-call.ts';
import type { RouteRow } from '../mapping/route.ts';
import type { Store } from '../store/store.ts';
import type { Deltas } from './sessions/deltas.ts';
import type { Hub } from './sessions/hub.ts';
import type { Transcripts } from './sessions/transcripts.ts';
import type { AgentSource } from './turns/turn-agent.ts';

/** Shared by everything that works on sessions and turns; made once per process by `SessionService`. */
export interface SessionParts {
  readonly store: Store;
  readonly calls: ModelContext;
  /** Whether a turn that was begun with this key may still call a model. */
  readonly mayGoOn: (keyId: string) => Promise<boolean>;
  readonly agents: AgentSource;
  /** The route table as it is now, for models that are named without an engine. */
  readonly routes: readonly RouteRow[];
  readonly hub: Hub;
  readonly deltas: Deltas;
  readonly transcripts: Transcripts;
  /** The folder that holds one folder per session. */
  readonly workspaces: string;
  /** This process, as owner of turns and as writer of events. */
  readonly workerId: string;
  readonly origin: string;
  readonly log: Logger;
}
