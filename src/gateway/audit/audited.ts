import { type JsonObject, jsonOf } from '../../base/json.ts';
import type { Principal } from '../auth/principal.ts';
import { Reply } from '../reply.ts';
import type { AuditLog } from './audit-log.ts';
import type { AuditRow } from './audit-row.ts';

/** The parts of a request that its record tells. */
export interface AuditedRequest {
  readonly gateway: { readonly audit: AuditLog };
  readonly principal: Principal;
  readonly params: object;
  readonly query: object;
  readonly body: object;
}

/** A chain is kept for ever; what is longer than any list of rights is told by the names of its members. */
const LONGEST_BODY = 16 * 1024;

/** Runs the handler of a route with a record in the audit log around it, where the route asks for one. */
export async function audited(route: { readonly audit?: AuditRow }, request: AuditedRequest, handle: () => unknown): Promise<unknown> {
  const { audit } = route;
  if (audit === undefined) return await handle();
  const { gateway, principal, params, query, body } = request;
  const [target] = Object.values(params).filter((value): value is string => typeof value === 'string');
  const isTold = audit.body === true && JSON.stringify(body).length <= LONGEST_BODY;
  const named = isTold ? { body: jsonOf(body) } : { members: Object.keys(body) };
  const details: JsonObject = {
    ...(Object.keys(params).length > 1 ? { params: jsonOf(params) } : {}),
    ...(Object.keys(query).length > 0 ? { query: jsonOf(query) } : {}),
    ...(Object.keys(body).length > 0 ? named : {}),
  };
  const act = { action: audit.action, ...(target === undefined ? {} : { target }), details };
  return await gateway.audit.around(principal, act, async () => await handle(), madeId);
}

/** The id of what a route has made. */
function madeId(result: unknown): string | undefined {
  const body = result instanceof Reply ? result.body : result;
  if (typeof body !== 'object' || body === null || !('id' in body)) return undefined;
  return typeof body.id === 'string' ? body.id : undefined;
}
