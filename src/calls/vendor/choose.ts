import { type Route, type RouteRow, routes } from '../../mapping/route.ts';
import type { Scan } from '../../mapping/scan/scan.ts';
import type { VendorCall } from './vendor-call.ts';

/** The places a call may go to in turn. */
export function chooseRoutes(table: readonly RouteRow[], call: VendorCall, scan: Scan): Route[] {
  const { match, target, options } = call;
  const asked = match.model ?? scan.model ?? '';
  const chosen = routes({ dialect: match.dialect, model: asked, pathEngine: target.engine, headerEngine: options.engine, table });
  return chosen.map((route) => byTerms(route, asked, call));
}

/** A run may decide model or thinking of its calls. That makes them mapped, because we change their bytes. */
function byTerms(route: Route, asked: string, { match, options }: VendorCall): Route {
  const { model = route.model, thinking, toolRules, mayEdit } = options;
  const edited = thinking !== undefined || (mayEdit && toolRules.length > 0);
  const decided = model !== asked || (edited && match.path.operation === 'generate');
  return decided ? { ...route, model, mode: 'mapped' } : route;
}

/** Whether the request must be written in another dialect than the caller's. */
export function isRewritten({ match }: VendorCall, { target }: Route): boolean {
  return target.id !== match.dialect.id;
}
