import type { Role, Scopes } from '../../calls/scopes.ts';
import { Plane } from '../../contract/receipts/parts.ts';
import { PERMISSION_NAMES, type Permission, RIGHTS, rowOf, SEES } from './permissions.ts';

/** Everything that a key opens, by its scopes, its role, and the role of the user whose key it is. */
export interface KeyRights {
  readonly permissions: ReadonlySet<Permission>;
  /** Of its own role and that of its user the one that allows less; undefined for keys that have none. */
  readonly role: Role | undefined;
  /** Whether it sees everybody's runs. */
  readonly seesAll: boolean;
  /** As calls to engines are held to: `admin` and `planes` say what is left of them. */
  readonly scopes: Scopes;
}

/** The permission without which a plane is closed. */
const PLANE_NEEDS: Readonly<Record<Plane, Permission>> = { gateway: 'engines.call', agent: 'agents', run: 'runs' };

/** A key of a user never opens more than the user may, whatever its own scopes say. */
export function rightsOfKey(scopes: Scopes, userRole?: Role): KeyRights {
  const own = scopes.admin === true ? 'admin' : scopes.role;
  const roles = [own, userRole].filter((role) => role !== undefined);
  if (roles.length === 0) return { permissions: byPlanes(scopes), role: undefined, seesAll: false, scopes };
  const isAdmin = roles.every((role) => role === 'admin');
  const held = PERMISSION_NAMES.filter((permission) => roles.every((role) => RIGHTS[role].has(permission)));
  const permissions = new Set(isAdmin ? held : held.filter((permission) => isInPlanes(permission, scopes)));
  const planes = Plane.options.filter((plane) => permissions.has(PLANE_NEEDS[plane]));
  const { admin: _admin, ...rest } = scopes;
  return {
    permissions,
    role: roles.reduce((least, role) => (RIGHTS[role].size < RIGHTS[least].size ? role : least)),
    seesAll: roles.every((role) => SEES[role] === 'all'),
    scopes: isAdmin ? { ...rest, admin: true } : { ...rest, planes },
  };
}

/** A key without a role: what every key may, and what its planes add. */
function byPlanes({ planes = ['gateway'] }: Scopes): ReadonlySet<Permission> {
  return planes.reduce<ReadonlySet<Permission>>((all, plane) => all.union(RIGHTS[`plane ${plane}`]), RIGHTS.key);
}

/** Scopes narrow a role: what belongs to a plane that the key does not name is not the key's. */
function isInPlanes(permission: Permission, { planes }: Scopes): boolean {
  const { plane } = rowOf(permission);
  return plane === undefined || planes === undefined || planes.includes(plane);
}
