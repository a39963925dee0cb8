import { type Route, routes } from '../../mapping/route.ts';
import type { Gateway } from '../gateway.ts';
import type { VendorCall } from './call.ts';
import type { CallOptions } from './options.ts';
import type { Read } from './read.ts';

/** The places a call may go to in turn. */
export function chooseRoutes(gateway: Gateway, call: VendorCall, { scan }: Pick<Read, 'scan'>, options: CallOptions): Route[] {
  const asked = call.match.model ?? scan.model ?? '';
  const chosen = routes({
    dialect: call.match.dialect,
    model: asked,
    pathEngine: call.target.engine,
    headerEngine: options.engine,
    table: gateway.config.routes,
  });
  return chosen.map((route) => byTerms(route, asked, call, options));
}

/** What a run decided for its calls makes them mapped: their bytes change. */
function byTerms(route: Route, asked: string, { match }: VendorCall, { model = route.model, thinking }: CallOptions): Route {
  const decided = model !== asked || (thinking !== undefined && match.path.operation === 'generate');
  return decided ? { ...route, model, mode: 'mapped' } : route;
}

/** Whether the request must be written in another dialect than the caller's. */
export function isRewritten({ match }: VendorCall, { target }: Route): boolean {
  return target.id !== match.dialect.id;
}
