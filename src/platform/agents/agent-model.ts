import type { ReceiptNegotiation } from '../../contract/receipts/parts.ts';
import { modelFacts } from '../../mapping/model.ts';
import { type Route, type RouteRow, routes } from '../../mapping/route.ts';
import type { Requirements } from '../../negotiation/negotiate.ts';
import { negotiationAccount } from '../../negotiation/report.ts';

/** The model of an agent that names none: it needs no key. */
const DEFAULT_MODEL = 'sim/sim-1';

/** Negotiation of the agent's needs with its model. */
export interface AgentNegotiation extends ReceiptNegotiation {
  readonly backend: string;
}

/**
 * The places that an agent's model calls may go to in turn: `engine/model`, or a name that the route table sends somewhere, with the
 * fallbacks of its row. An agent has no dialect of its own that could choose for it.
 */
export function agentRoutes(name: string | null, table: readonly RouteRow[]): readonly [Route, ...Route[]] {
  const model = name ?? DEFAULT_MODEL;
  const [first, ...fallbacks] = routes({ model, table });
  if (first === undefined) throw new RangeError('a model has at least one route');
  return [first, ...fallbacks];
}

/** Where they go first. */
export function agentModel(name: string | null, table: readonly RouteRow[]): Route {
  return agentRoutes(name, table)[0];
}

/** Asked before a turn, and shown in the preview. */
export function negotiateAgent({ engine, model }: Pick<Route, 'engine' | 'model'>, requirements: Requirements): AgentNegotiation {
  return { backend: `engine:${engine.id}`, ...negotiationAccount(modelFacts(engine, model).manifest, requirements) };
}
