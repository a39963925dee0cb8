import { AbpError } from '../../contract/errors.ts';
import { type Backend, listBackends, resolveBackend } from '../../runtime/backends.ts';
import type { SidecarBackend } from '../../runtime/work-orders/work-orders.ts';
import { may } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { workOrdersOf } from './work-orders.ts';

/** Every backend, the sidecars of the configuration among them. */
export async function allBackends(gateway: Gateway, principal: Principal): Promise<readonly (Backend | SidecarBackend)[]> {
  return [...listBackends(), ...(await sidecars(gateway, principal))];
}

/** One backend by its id, or by a bare name that only one of those without a configuration has. */
export async function findBackend(gateway: Gateway, principal: Principal, id: string): Promise<Backend | SidecarBackend> {
  if (!id.startsWith('sidecar:')) return resolveBackend(id);
  const found = (await sidecars(gateway, principal)).find((one) => one.id === id);
  if (found === undefined)
    throw new AbpError('not_found', `There is no backend "${id}": [sidecars] of the configuration has none of that name.`, { backend: id });
  return found;
}

async function sidecars(gateway: Gateway, principal: Principal): Promise<readonly SidecarBackend[]> {
  if (Object.keys(gateway.config.sidecars).length === 0) return [];
  const found = await (await workOrdersOf(gateway)).sidecars(mayStart(principal));
  // They say of themselves what they like, also what they were told in confidence.
  const redact = gateway.store.withoutSecrets ?? ((text: string) => text);
  return found.map(({ name, obstacle, ...sidecar }) => ({
    ...sidecar,
    name: redact(name),
    ...(obstacle === undefined ? {} : { obstacle: redact(obstacle) }),
  }));
}

/** To greet a sidecar is to start a program, which not everybody may who may read. */
function mayStart(principal: Principal): boolean {
  return may(principal, 'runs');
}
