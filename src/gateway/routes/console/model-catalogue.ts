import type { z } from 'zod';
import { AbpError } from '../../../contract/errors.ts';
import type { Engine } from '../../../engines/engine.ts';
import { type CatalogueModel, CatalogueQuery, ModelCatalogue } from '../../api/model-catalogue.ts';
import { defineRoute } from '../../route.ts';

type Tokens = Omit<z.output<typeof CatalogueQuery>, 'q' | 'engine'>;

/** The models of an engine that has a price list; an engine of the configuration has no list but its own. */
async function modelsOf({ id: engine, prices, base }: Engine, tokens: Tokens, at: Date): Promise<CatalogueModel[]> {
  if (prices === undefined || base !== undefined) return [];
  const { pricedModels } = await import('../../../models/price-list.ts');
  const usage = {
    inputTokens: tokens.input_tokens,
    outputTokens: tokens.output_tokens,
    cacheReadTokens: tokens.cached_tokens,
    cacheWriteTokens: 0,
    webSearchRequests: 0,
  };
  return (await pricedModels(prices, at)).map(({ id, name, contextWindow, fact, rates, costOf }) => ({
    engine,
    id,
    name,
    context_window: contextWindow,
    max_output_tokens: fact?.maxOutputTokens ?? null,
    thinking:
      fact?.thinking === undefined
        ? null
        : { levels: [...fact.thinking.levels], budget: fact.thinking.budget === undefined ? null : [...fact.thinking.budget] },
    images: fact?.images ?? null,
    files: fact?.files ?? null,
    rates:
      rates === undefined ? null : { input: rates.input, output: rates.output, cache_read: rates.cacheRead, cache_write: rates.cacheWrite },
    cost_nano_usd: costOf(usage) ?? null,
  }));
}

export const modelCatalogueRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/matrix/models',
    summary: 'Models by engine: limits, thinking, list prices, and what so many tokens would cost on each.',
    query: CatalogueQuery,
    response: ModelCatalogue,
    handle: async ({ gateway, query: { q = '', engine, ...tokens } }) => {
      if (tokens.cached_tokens > tokens.input_tokens) {
        throw new AbpError('invalid_request', 'cached_tokens are part of input_tokens and cannot be more.');
      }
      const wanted = q.trim().toLowerCase();
      const engines = [...gateway.calls.deployments.values()].map((one) => one.engine).filter(({ id }) => (engine ?? id) === id);
      const at = new Date();
      const items: CatalogueModel[] = [];
      for (const one of engines) {
        for (const model of await modelsOf(one, tokens, at)) {
          if (`${model.engine}/${model.id} ${model.name}`.toLowerCase().includes(wanted)) items.push(model);
        }
      }
      const { priceVersionOf } = await import('../../../models/cost.ts');
      return { items, total: items.length, prices: priceVersionOf('') };
    },
  }),
];
