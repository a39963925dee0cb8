import type { Logger } from 'pino';
import type { ModelContext } from '../../calls/model-call.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Home } from '../../home/home.ts';
import type { AgentPlane } from '../../platform/agents/agent-plane.ts';
import { storedAgents } from '../../platform/agents/stored-agents.ts';
import { SessionService } from '../../platform/session-service.ts';
import type { Store } from '../../store/store.ts';
import { mayGoOn } from '../auth/going-on.ts';
import type { Config } from '../config.ts';

export interface SessionSurroundings {
  readonly home: Home;
  readonly store: Store;
  readonly agents: AgentPlane;
  readonly calls: ModelContext;
  readonly log: Logger;
}

/** Sessions and turns as the configuration wants them. */
export function sessionServiceOf(config: Config, { home, store, agents, calls, log }: SessionSurroundings): SessionService {
  const slots = config.sessions.turns;
  if (slots === 0 && store.kind === 'sqlite') {
    throw new AbpError('invalid_request', 'sessions.turns is 0, and on SQLite no other process can work on turns; set database.url.');
  }
  return new SessionService({
    store,
    calls,
    mayGoOn: (keyId) => mayGoOn(store, keyId, 'agents'),
    worker: { slots },
    log,
    agents: storedAgents(agents),
    routes: () => agents.routes,
    homePath: home.installation,
  });
}
