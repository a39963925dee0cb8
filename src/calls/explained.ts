import type { Json } from '../base/json.ts';
import { type ExplainInput, type Explanation, explainRouted } from '../mapping/explain.ts';
import { namedModels } from '../mapping/scan/named-models.ts';
import { scanBody } from '../mapping/scan/scan.ts';
import { type DeniedEngines, denialOf } from './denied-engines.ts';
import { type PermissionAsk, permission } from './permission.ts';

/** Who would make the call that is explained, and what is denied to everybody. Both can be told before the call is made. */
interface ExplainedRights {
  readonly owner: PermissionAsk['owner'];
  readonly denied: DeniedEngines;
}

/** A call without its request. */
export interface ExplainedCall extends Omit<ExplainInput, 'request'> {
  /** Absent where nobody in particular asks. */
  readonly rights?: ExplainedRights | undefined;
}

/**
 * What would become of a request, with the error that its call would get: rights of the key come before everything that the mapping finds,
 * and what the operator denies after it. Limits and budgets are another matter each time, and are not foreseen.
 */
export function explainCall(bytes: Buffer, { rights, ...input }: ExplainedCall, request: Json): Explanation {
  const { explanation, chosen, place } = explainRouted({ ...input, request });
  if (rights === undefined) return explanation;
  const { owner, denied } = rights;
  const asks = denied.models.length > 0 || owner.scopes?.models !== undefined;
  const ask = {
    way: 'mapped' as const,
    engine: chosen.engine.id,
    model: chosen.model,
    ...(asks ? { moreModels: namedModels(bytes, scanBody(bytes), place) } : {}),
  };
  const error = permission({ ...ask, owner }) ?? explanation.error ?? denialOf(denied, ask);
  return error === undefined ? explanation : { ...explanation, upstream: null, error };
}
