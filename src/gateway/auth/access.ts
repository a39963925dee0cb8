import { hasPlane, permission } from '../../calls/permission.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Plane } from '../../contract/receipts/parts.ts';
import { ownerOf, type Principal } from './principal.ts';

/** The right that a route asks of its caller. For calls to engines `calls/permission` decides, on every way. */
export type Need =
  | { readonly kind: 'public' }
  /** Negotiation, explanations and the caller's own receipts. */
  | { readonly kind: 'read' }
  /** `agent` and `engine` are those of a coding agent to be started; an agent left alone with its own engine is `direct`. */
  | {
      readonly kind: 'plane';
      readonly plane: Plane;
      readonly agent?: string;
      readonly engine?: string | undefined;
      /** It only looks, or only answers what an agent asked: a paired browser may. */
      readonly act?: 'watch' | 'answer';
    }
  /** Numbers about the whole server: for callers on this machine, and for those from whom nothing is held back. */
  | { readonly kind: 'metrics' }
  /** Spawning, keys and settings. */
  | { readonly kind: 'control' };

/** Decides for routes. Throws unless the principal may. */
export function authorize(principal: Principal, need: Need): void {
  if (need.kind === 'public' || principal.kind === 'token') return;
  assertKnown(principal);
  if (principal.kind === 'local') {
    if (need.kind === 'control' || (need.kind === 'plane' && need.plane === 'run')) {
      throw new AbpError('forbidden', 'This needs the token of the home (ABP_HOME/token) or an admin key.', { scope: 'admin' });
    }
    return;
  }
  if (principal.kind === 'paired') {
    if (need.kind === 'read' || need.kind === 'metrics' || (need.kind === 'plane' && need.act !== undefined)) return;
    throw pairedOnly();
  }
  if (principal.kind !== 'key' || principal.scopes.admin === true) return;
  const refusal = refusalOf(principal, need);
  if (refusal !== undefined) throw refusal;
}

function pairedOnly(): AbpError {
  return new AbpError('forbidden', 'A paired browser may read and answer, nothing else.', { scope: 'admin' });
}

/** A server without an open door for this machine serves nobody whom it does not know. */
function assertKnown(principal: Principal): void {
  if (principal.kind === 'anonymous') throw new AbpError('unauthenticated', 'This server needs a key.');
}

/** Who calls an engine must be known, and be more than a browser that reads and answers. */
export function assertMayCall(principal: Principal): void {
  assertKnown(principal);
  if (principal.kind === 'paired') throw pairedOnly();
}

function refusalOf(principal: Extract<Principal, { kind: 'key' }>, need: Need): AbpError | undefined {
  if (need.kind === 'control' || need.kind === 'metrics') return lacking(principal, 'admin');
  if (need.kind !== 'plane') return undefined;
  if (need.agent === undefined) return hasPlane(principal.scopes, need.plane) ? undefined : lacking(principal, `plane ${need.plane}`);
  const engine = need.engine?.split(':')[0] ?? null;
  return permission({ way: 'run', owner: ownerOf(principal), engine, model: null, agent: need.agent });
}

function lacking({ key }: Extract<Principal, { kind: 'key' }>, scope: string): AbpError {
  return new AbpError('forbidden', `The key ${key.prefix}… may not do this; it lacks ${scope}.`, { scope });
}

/** Whether nothing is kept from the principal: a paired browser was let in by somebody who holds the token. */
export function seesAll(principal: Principal): boolean {
  return principal.kind === 'token' || principal.kind === 'paired' || (principal.kind === 'key' && principal.scopes.admin === true);
}

/** A filter held to what the principal may see: a key to what is its own, the local caller to what was made without a key. */
export function ownOnly<F extends { readonly key?: string | undefined }>(principal: Principal, filter: F): F & { unkeyed?: boolean } {
  if (seesAll(principal)) return filter;
  return principal.kind === 'key' ? { ...filter, key: principal.key.id } : { ...filter, unkeyed: true };
}

/** Whether the principal may see runs of this key (null = runs without a key). */
export function maySee(principal: Principal, keyId: string | null): boolean {
  if (seesAll(principal)) return true;
  if (principal.kind === 'key') return principal.key.id === keyId;
  return principal.kind === 'local' && keyId === null;
}
