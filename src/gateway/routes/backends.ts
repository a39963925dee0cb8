import { type Capability, isCapability } from '../../contract/capability.ts';
import { dialects } from '../../dialects/index.ts';
import { addedEngines, engines } from '../../engines/index.ts';
import { listBackends, type Backend as RuntimeBackend, resolveBackend } from '../../runtime/backends.ts';
import { Backend, BackendList, BackendParams, Matrix } from '../api/backends.ts';
import { defineRoute } from '../route.ts';

const GUARANTEES = { passthrough: 'No request rewriting', mapped: 'Opinionated mapping, early errors' } as const;

/** Where the levels of a backend come from. */
const SOURCES = { engine: 'manifest', host: 'hello', adapter: 'profile' } as const satisfies Record<RuntimeBackend['kind'], string>;

function view({ id, name, kind, manifest }: RuntimeBackend): object {
  return { id, name, kind, capabilities: manifest };
}

/** Every dialect on every engine: exact where the engine speaks the dialect itself. */
function matrix(): Matrix {
  return {
    cells: dialects.flatMap((dialect) =>
      [...engines, ...addedEngines()].map((engine) => {
        const mode = engine.dialects.includes(dialect.id) ? 'passthrough' : 'mapped';
        return { dialect: dialect.id, engine: engine.id, mode, guarantee: GUARANTEES[mode] } as const;
      }),
    ),
    capabilities: listBackends().flatMap((backend) =>
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
    need: { kind: 'read' },
    response: BackendList,
    handle: () => ({ items: listBackends().map(view), total: listBackends().length }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/backends/{id}',
    summary: 'One backend, by its id or by a bare name that only one backend has.',
    need: { kind: 'read' },
    params: BackendParams,
    response: Backend,
    handle: ({ params }) => view(resolveBackend(params.id)),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/matrix',
    summary: 'Dialects on engines, and capabilities of backends.',
    need: { kind: 'read' },
    response: Matrix,
    handle: matrix,
  }),
];
