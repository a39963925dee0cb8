import { type Capability, isCapability } from '../../contract/capability.ts';
import { dialects } from '../../dialects/index.ts';
import { addedEngines, engines } from '../../engines/index.ts';
import type { Backend as RuntimeBackend } from '../../runtime/backends.ts';
import type { SidecarBackend } from '../../runtime/work-orders/work-orders.ts';
import { Backend, BackendList, BackendParams, Matrix } from '../api/backends.ts';
import { defineRoute } from '../route.ts';
import { allBackends, findBackend } from '../run-plane/backends.ts';

const GUARANTEES = { passthrough: 'No request rewriting', mapped: 'Opinionated mapping, early errors' } as const;

type Listed = RuntimeBackend | SidecarBackend;

/** Where the levels of a backend come from: its manifest, its profile, or what it says when it is greeted. */
const SOURCES = { engine: 'manifest', host: 'hello', adapter: 'profile', sidecar: 'hello' } as const satisfies Record<
  Listed['kind'],
  string
>;

function view(backend: Listed): object {
  const { id, name, kind, manifest } = backend;
  return { id, name, kind, manifest, capabilities: manifest, ...('obstacle' in backend && { obstacle: backend.obstacle }) };
}

/** Every dialect on every engine: exact where the engine speaks the dialect itself. */
function matrix(backends: readonly Listed[]): Matrix {
  return {
    cells: dialects.flatMap((dialect) =>
      [...engines, ...addedEngines()].map((engine) => {
        const mode = engine.dialects.includes(dialect.id) ? 'passthrough' : 'mapped';
        return { dialect: dialect.id, engine: engine.id, mode, guarantee: GUARANTEES[mode] } as const;
      }),
    ),
    capabilities: backends.flatMap((backend) =>
      Object.entries(backend.manifest).flatMap(([capability, level]) =>
        isCapability(capability) && level !== undefined
          ? [{ capability: capability satisfies Capability, backend: backend.id, level, source: SOURCES[backend.kind] }]
          : [],
      ),
    ),
  };
}

export const backendRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/backends',
    summary: 'Everything that can execute work, with its capabilities.',
    response: BackendList,
    handle: async ({ gateway, principal }) => {
      const items = await allBackends(gateway, principal);
      return { items: items.map(view), total: items.length };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/backends/{id}',
    summary: 'One backend, by its id or by a bare name that only one backend has.',
    params: BackendParams,
    response: Backend,
    handle: async ({ gateway, principal, params }) => view(await findBackend(gateway, principal, params.id)),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/matrix',
    summary: 'Dialects on engines, and capabilities of backends.',
    response: Matrix,
    handle: async ({ gateway, principal }) => matrix(await allBackends(gateway, principal)),
  }),
];
