import type { z } from 'zod';
import type { AgentPlane } from '../../platform/agents/agent-plane.ts';
import type { SessionService } from '../../platform/session-service.ts';
import type { Principal } from '../auth/principal.ts';
import type { Route } from '../route.ts';

type Schema = z.ZodType<object>;
type Parsed<S extends Schema | undefined> = S extends Schema ? z.output<S> : Record<string, never>;

/** A parsed call and who makes it. */
interface AgentCall<P extends Schema | undefined, Q extends Schema | undefined, B extends Schema | undefined> {
  readonly principal: Principal;
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
  /** Sessions and turns; absent where there is no server. */
  readonly sessions?: SessionService;
}

/** A route that needs the agent plane and nothing else of the gateway: the command line serves it without a server. */
export interface AgentRoute extends Route {
  serve(plane: AgentPlane, call: AgentCall<Schema, Schema, Schema>): unknown;
}

interface AgentRouteDefinition<P extends Schema | undefined, Q extends Schema | undefined, B extends Schema | undefined>
  extends Omit<Route, 'handle' | 'params' | 'query' | 'body'> {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  serve(plane: AgentPlane, call: AgentCall<P, Q, B>): unknown;
}

/** Ties the types of `serve` to the route's schemas. */
export function defineAgentRoute<
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
>(definition: AgentRouteDefinition<P, Q, B>): AgentRoute {
  // The server and the command line both parse params, query and body with these very schemas first.
  const route = definition as unknown as Omit<AgentRoute, 'handle'>;
  return {
    ...route,
    handle: ({ gateway, principal, params, query, body }) =>
      route.serve(gateway.agents, { principal, params, query, body, sessions: gateway.sessions }),
  };
}
