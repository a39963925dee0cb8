import type { CodingAgents } from '../../runtime/coding-agents/coding-agents.ts';
import { AdapterParams, CostAnswer, CostRequest, ModelList, ModelValidation, ValidateModel } from '../api/adapters.ts';
import { defineRoute } from '../route.ts';
import { codingAgentsOf } from '../run-plane/runs.ts';

function listOf({ models }: CodingAgents, agent: string): object {
  const items = models.catalog(agent);
  return { items, total: items.length, lastUpdated: models.lastUpdated(agent).toISOString() };
}

export const adapterModelRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/adapters/{id}/models',
    summary: 'The models a coding agent can be asked for.',
    params: AdapterParams,
    response: ModelList,
    handle: async ({ gateway, params }) => {
      const agents = await codingAgentsOf(gateway);
      return listOf(agents, agents.adapters.get(params.id).agent);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/adapters/{id}/models/validate',
    summary: 'Whether a model name can be used with the agent, and what to use instead.',
    params: AdapterParams,
    body: ValidateModel,
    response: ModelValidation,
    handle: async ({ gateway, params, body }) => {
      const { adapters, models } = await codingAgentsOf(gateway);
      return models.validate(adapters.get(params.id).agent, body.model);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/adapters/{id}/models/cost',
    summary: 'What a use of a model costs.',
    params: AdapterParams,
    body: CostRequest,
    response: CostAnswer,
    handle: async ({ gateway, params, body }) => {
      const { adapters, models } = await codingAgentsOf(gateway);
      const { agent } = adapters.get(params.id);
      const { model, ...usage } = body;
      return {
        estimatedUsd: models.estimateCost(agent, model, usage.inputTokens, usage.outputTokens),
        totalUsd: models.costOf(agent, model, usage) ?? null,
      };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/adapters/{id}/models/refresh',
    summary: 'Asks the agent, or the engine whose list is its own, for its models; kept in memory.',
    params: AdapterParams,
    response: ModelList,
    handle: async ({ gateway, params }) => {
      const agents = await codingAgentsOf(gateway);
      const { agent } = agents.adapters.get(params.id);
      await agents.models.refresh(agent);
      return listOf(agents, agent);
    },
  }),
];
