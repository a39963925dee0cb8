import { globMatch } from '../base/glob.ts';
import { AbpError } from '../contract/errors.ts';
import type { Plane } from '../contract/receipts/parts.ts';
import { type Call, type CallOwner, planeOf, type Way } from './call.ts';
import type { Scopes } from './scopes.ts';

/** Ways that pass bytes of paths which no dialect describes. */
const UNREAD: ReadonlySet<Way> = new Set<Way>(['raw', 'splice']);

/** The part of a call that its key's rights are held against. */
export type PermissionAsk = Pick<Call, 'way' | 'engine' | 'model' | 'moreModels' | 'agent' | 'direct'> & {
  readonly owner: Pick<CallOwner, 'scopes' | 'keyPrefix'>;
};

/** Refuses what the key of the owner does not allow. Reads memory only, so that it may be asked early, before a large body is translated. */
export function permission({ owner: { scopes, keyPrefix }, ...call }: PermissionAsk): AbpError | undefined {
  if (scopes === undefined || scopes.admin === true) return undefined;
  const missing = missingScope(scopes, call);
  if (missing === undefined) return undefined;
  const whose = keyPrefix === undefined ? 'The key' : `The key ${keyPrefix}…`;
  return new AbpError('forbidden', `${whose} may not do this; it lacks ${missing}.`, { scope: missing });
}

function missingScope(
  scopes: Scopes,
  { way, engine, model, moreModels = [], agent, direct }: Omit<PermissionAsk, 'owner'>,
): string | undefined {
  const plane = planeOf(way);
  if (!hasPlane(scopes, plane)) return `plane ${plane}`;
  if (UNREAD.has(way) && scopes.raw !== true) return 'raw';
  if (agent !== undefined && !allows(scopes.agents, agent)) return `agent ${agent}`;
  // A key that is held to some engines must name the one that a run goes to.
  const name = direct === true ? 'direct' : (engine ?? 'of the agent’s own choice');
  if (!allows(scopes.engines, name)) return `engine ${name}`;
  if (scopes.models === undefined) return undefined;
  // The calls of a run are held to the models one by one, unless they go past the gateway.
  if (way === 'run') return direct === true ? ANY_MODEL : undefined;
  if (moreModels === 'unknown') return ANY_MODEL;
  const forbidden = [...(model === null ? [] : [model]), ...moreModels].find((name) => !allows(scopes.models, name));
  return forbidden === undefined ? undefined : `model ${forbidden}`;
}

/** A key that is held to some models must name one in a place that is read here. */
const ANY_MODEL = 'model of any name, which a call needs whose models are not known here';

function hasPlane(scopes: Scopes, plane: Plane): boolean {
  return (scopes.planes ?? ['gateway']).includes(plane);
}

function allows(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns === undefined || patterns.some((pattern) => globMatch(pattern, name));
}
