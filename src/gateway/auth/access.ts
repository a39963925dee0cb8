import { globMatch } from '../../base/glob.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Plane } from '../../contract/receipts/receipt.ts';
import type { Principal } from './principal.ts';
import type { Scopes } from './scopes.ts';

/** What an operation asks of its caller. */
export type Need =
  | { readonly kind: 'public' }
  /** Negotiation, explanations and the caller's own receipts. */
  | { readonly kind: 'read' }
  | { readonly kind: 'vendor'; readonly engine: string; readonly model?: string | undefined; readonly raw: boolean }
  /** `agent` and `engine` are those of a coding agent to be started; an agent left alone with its own engine is `direct`. */
  | { readonly kind: 'plane'; readonly plane: Plane; readonly agent?: string; readonly engine?: string | undefined }
  /** Spawning, keys and settings. */
  | { readonly kind: 'control' };

/** The one place that decides. Throws unless the principal may. */
export function authorize(principal: Principal, need: Need): void {
  if (need.kind === 'public' || principal.kind === 'token') return;
  if (principal.kind === 'anonymous') throw new AbpError('unauthenticated', 'This server needs a key.');
  if (principal.kind === 'local') {
    if (need.kind === 'control' || (need.kind === 'plane' && need.plane === 'run')) {
      throw new AbpError('forbidden', 'This needs the token of the home (ABP_HOME/token) or an admin key.', { scope: 'admin' });
    }
    return;
  }
  const { scopes } = principal;
  if (scopes.admin === true) return;
  const missing = missingScope(scopes, need);
  if (missing !== undefined)
    throw new AbpError('forbidden', `The key ${principal.key.prefix}… may not do this; it lacks ${missing}.`, { scope: missing });
}

function missingScope(scopes: Scopes, need: Need): string | undefined {
  switch (need.kind) {
    case 'control':
      return 'admin';
    case 'plane':
      return missingForPlane(scopes, need);
    case 'vendor':
      if (!hasPlane(scopes, 'gateway')) return 'plane gateway';
      if (need.raw && scopes.raw !== true) return 'raw';
      if (!allows(scopes.engines, need.engine)) return `engine ${need.engine}`;
      return need.model === undefined || allows(scopes.models, need.model) ? undefined : `model ${need.model}`;
    default:
      return undefined;
  }
}

/** Whoever is held to some engines must name the one that a run goes to. */
function missingForPlane(scopes: Scopes, { plane, agent, engine }: Extract<Need, { kind: 'plane' }>): string | undefined {
  if (!hasPlane(scopes, plane)) return `plane ${plane}`;
  if (agent === undefined) return undefined;
  if (!allows(scopes.agents, agent)) return `agent ${agent}`;
  const id = engine?.split(':')[0] ?? 'of the agent’s own choice';
  return allows(scopes.engines, id) ? undefined : `engine ${id}`;
}

function hasPlane(scopes: Scopes, plane: Plane): boolean {
  return (scopes.planes ?? ['gateway']).includes(plane);
}

function allows(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns === undefined || patterns.some((pattern) => globMatch(pattern, name));
}

/** A filter held to what the principal may see: a key to what is its own, the local caller to what was made without a key. */
export function ownOnly<F extends { readonly key?: string | undefined }>(principal: Principal, filter: F): F & { unkeyed?: boolean } {
  if (principal.kind === 'token' || (principal.kind === 'key' && principal.scopes.admin === true)) return filter;
  return principal.kind === 'key' ? { ...filter, key: principal.key.id } : { ...filter, unkeyed: true };
}

/** Whether the principal may see runs of this key (null = runs without a key). */
export function maySee(principal: Principal, keyId: string | null): boolean {
  if (principal.kind === 'token') return true;
  if (principal.kind === 'key') return principal.scopes.admin === true || principal.key.id === keyId;
  return principal.kind === 'local' && keyId === null;
}
