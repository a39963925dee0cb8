import type { RegisteredAdapter } from '../../adapters/index.ts';
import {
  AdapterDetail,
  AdapterList,
  AdapterParams,
  AuthView,
  DetectionView,
  DetectQuery,
  InstallAnswer,
  InstallRequest,
} from '../api/adapters.ts';
import { defineRoute } from '../route.ts';
import { codingAgentsOf } from '../run-plane/runs.ts';

function view({ agent, displayName, cliCommand, summary, capabilities }: RegisteredAdapter): object {
  return { agent, displayName, cliCommand, summary, capabilities };
}

export const adapterRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/adapters',
    summary: 'Every coding agent and what its profile says it can do.',
    response: AdapterList,
    handle: async ({ gateway }) => {
      const items = (await codingAgentsOf(gateway)).adapters.list().map(view);
      return { items, total: items.length };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/adapters/{id}',
    summary: 'One coding agent: its profile, how it is installed here, and what today’s versions differ in.',
    params: AdapterParams,
    response: AdapterDetail,
    handle: async ({ gateway, params }) => {
      const { adapters } = await codingAgentsOf(gateway);
      const adapter = adapters.get(params.id);
      const { hookTable } = await import('../../adapters/hooks.ts');
      const { notes, messages = null, traffic, defaultModelId, modelsAsOf, modelsSource } = adapter;
      return {
        ...view(adapter),
        notes,
        installInstructions: adapters.installInstructions(params.id),
        messages,
        hooks: hookTable(adapter),
        traffic,
        defaultModelId,
        modelsAsOf,
        modelsSource,
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/adapters/{id}/detect',
    summary: 'Whether the agent is on the machine of the server, in which version, and what that version can do.',
    params: AdapterParams,
    query: DetectQuery,
    response: DetectionView,
    handle: async ({ gateway, params, query }) =>
      (await codingAgentsOf(gateway)).adapters.detect(params.id, { fresh: query.fresh === 'true' }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/adapters/{id}/auth',
    summary: 'Which credentials the agent would find, by name only; no file is opened.',
    params: AdapterParams,
    response: AuthView,
    handle: async ({ gateway, params }) => (await codingAgentsOf(gateway)).adapters.auth(params.id),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/adapters/{id}/install',
    summary: 'Installs the agent on the machine of the server.',
    audit: { action: 'adapter.install', body: true },
    params: AdapterParams,
    body: InstallRequest,
    response: InstallAnswer,
    handle: async ({ gateway, params, body }) => (await codingAgentsOf(gateway)).adapters.install(params.id, body),
  }),
];
