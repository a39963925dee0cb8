import { permission as callPermission } from '../../calls/permission.ts';
import { AbpError } from '../../contract/errors.ts';
import { type Permission, RIGHTS, rowOf, SEES } from './permissions.ts';
import { ownerOf, type PairedUser, type Principal } from './principal.ts';

type KeyPrincipal = Extract<Principal, { kind: 'key' }>;

/** Whether the principal has a permission. For calls to engines `calls/permission` decides, on every way. */
export function may(principal: Principal, permission: Permission): boolean {
  if (permission === 'public' || principal.kind === 'token') return true;
  if (principal.kind === 'anonymous') return false;
  return (principal.kind === 'key' ? principal.permissions : RIGHTS[principal.kind]).has(permission);
}

/** Throws unless the principal has the permission. */
export function authorize(principal: Principal, permission: Permission): void {
  if (may(principal, permission)) return;
  assertKnown(principal);
  if (principal.kind === 'paired') throw pairedOnly(permission);
  if (principal.kind === 'key') throw lacking(principal, permission);
  throw new AbpError('forbidden', 'This needs the token of the home (ABP_HOME/token) or an admin key.', { scope: 'admin', permission });
}

/** The coding agent that is to be started; an agent left alone with its own engine has the engine `direct`. */
interface RunAsk {
  readonly agent: string;
  readonly engine?: string | undefined;
}

/** Throws unless the principal may start this coding agent on this engine. */
export function authorizeRun(principal: Principal, { agent, engine }: RunAsk): void {
  authorize(principal, 'runs');
  const refusal = callPermission({ way: 'run', owner: ownerOf(principal), engine: engine?.split(':')[0] ?? null, model: null, agent });
  if (refusal !== undefined) throw refusal;
}

/** A server without an open door for this machine serves nobody whom it does not know. */
function assertKnown(principal: Principal): void {
  if (principal.kind === 'anonymous') throw new AbpError('unauthenticated', 'This server needs a key.');
}

/** Who calls an engine must be known, and be more than a browser that reads and answers. */
export function assertMayCall(principal: Principal): void {
  assertKnown(principal);
  if (principal.kind === 'paired') throw pairedOnly('engines.call');
}

function pairedOnly(permission: Permission): AbpError {
  return new AbpError('forbidden', 'A paired browser may read and answer, nothing else.', { scope: 'admin', permission });
}

function lacking({ key, role }: KeyPrincipal, permission: Permission): AbpError {
  const { plane } = rowOf(permission);
  const scope = plane === undefined ? 'admin' : `plane ${plane}`;
  const message =
    role === undefined
      ? `The key ${key.prefix}… may not do this; it lacks ${scope}.`
      : `The key ${key.prefix}… has the role ${role} and may not do this; it lacks the permission ${permission}.`;
  return new AbpError('forbidden', message, { scope, permission, ...(role === undefined ? {} : { role }) });
}

/** Whether nothing is kept from the principal: a browser that was paired for no user was let in by somebody who holds the token. */
export function seesAll(principal: Principal): boolean {
  if (principal.kind === 'token') return true;
  if (principal.kind === 'anonymous' || userOfPaired(principal) !== undefined) return false;
  return principal.kind === 'key' ? principal.seesAll : SEES[principal.kind] === 'all';
}

function userOfPaired(principal: Principal): PairedUser | undefined {
  return principal.kind === 'paired' ? principal.user : undefined;
}

/** A filter needs a key at least; no key has this id. */
const NO_KEY = ['none'] as const;

/** The part of a filter that says whose runs are looked for. */
interface Whose {
  readonly keys?: readonly string[] | undefined;
  readonly unkeyed?: boolean | undefined;
}

/** `own`: the key itself and the other keys of its user. `seen`: also those of teams that show their members each other's runs. */
type Reach = 'own' | 'seen';

function held<F extends object>(principal: Principal, filter: F, reach: Reach): F & Whose {
  if (seesAll(principal)) return filter;
  const user = userOfPaired(principal);
  if (user !== undefined) return { ...filter, keys: user.keys.length === 0 ? NO_KEY : user.keys };
  return principal.kind === 'key' ? { ...filter, keys: principal.keys(reach) } : { ...filter, unkeyed: true };
}

/** A filter held to what the principal may see. The local caller sees what was made without a key. */
export function seenOnly<F extends object>(principal: Principal, filter: F): F & Whose {
  return held(principal, filter, 'seen');
}

/** A filter held to what the principal may also change. */
export function ownOnly<F extends object>(principal: Principal, filter: F): F & Whose {
  return held(principal, filter, 'own');
}

function reaches(principal: Principal, keyId: string | null, reach: Reach): boolean {
  if (seesAll(principal)) return true;
  const user = userOfPaired(principal);
  if (user !== undefined) return keyId !== null && user.keys.includes(keyId);
  if (principal.kind !== 'key') return principal.kind === 'local' && keyId === null;
  return keyId !== null && (keyId === principal.key.id || principal.keys(reach).includes(keyId));
}

/** The keys whose runs the principal sees (null = runs without a key); `undefined` stands for everybody’s. */
export function seenKeys(principal: Principal): readonly (string | null | undefined)[] {
  if (seesAll(principal)) return EVERYBODYS;
  if (principal.kind === 'key') return principal.keys('seen');
  return userOfPaired(principal)?.keys ?? (principal.kind === 'local' ? UNKEYED : []);
}

const EVERYBODYS = [undefined] as const;
const UNKEYED = [null] as const;

/** Whether the principal may see runs of this key (null = runs without a key, undefined = everybody’s). */
export function maySee(principal: Principal, keyId: string | null | undefined): boolean {
  return keyId === undefined ? seesAll(principal) : reaches(principal, keyId, 'seen');
}

/** Whether the principal may steer runs of this key, answer their questions and erase their bodies: nobody does that for a team-mate. */
export function maySteer(principal: Principal, keyId: string | null): boolean {
  return reaches(principal, keyId, 'own');
}
