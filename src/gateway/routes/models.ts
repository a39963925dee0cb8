import { z } from 'zod';
import { AbpError } from '../../contract/errors.ts';
import type { Dialect, ModelLine } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import { engines } from '../../engines/index.ts';
import type { Gateway } from '../gateway.ts';
import { defineRoute } from '../route.ts';

/** When a list of ours was made says nothing; SDKs want a number. */
const LISTED_AT = Date.UTC(2026, 0, 1);
const AnyList = z.looseObject({});
const ModelsQuery = z.looseObject({});

/** Aliases of the route table first, then every model of every engine that has a key, under `engine/model`. */
async function lines(gateway: Gateway): Promise<ModelLine[]> {
  const { catalogueOf } = await import('../../models/catalogue.ts');
  const aliases = gateway.config.routes
    .filter(({ match }) => !match.includes('*'))
    .map(({ match, to }): ModelLine => ({ id: match, name: `${match} → ${to}`, owner: to.split('/')[0] ?? to, createdAtMs: LISTED_AT }));
  const known = engines.flatMap((engine): ModelLine[] => {
    const usable = engine.transport !== undefined || gateway.deployments.get(engine.id)?.key !== undefined;
    if (!usable) return [];
    const models =
      engine.prices === undefined
        ? engine.sample === undefined
          ? []
          : [{ id: engine.sample, name: engine.name }]
        : catalogueOf(engine.prices);
    return models.map(({ id, name }) => ({ id: `${engine.id}/${id}`, name, owner: engine.id, createdAtMs: LISTED_AT }));
  });
  return [...aliases, ...known];
}

function shape(id: string): Dialect {
  const dialect = findDialect(id);
  if (dialect === undefined) throw new AbpError('internal', `the dialect ${id} is not registered`);
  return dialect;
}

export const modelRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/models',
    summary: 'Models that can be named here, in the shape of the caller’s SDK: Claude’s with anthropic-version, else OpenAI’s.',
    need: { kind: 'read' },
    query: ModelsQuery,
    response: AnyList,
    handle: async ({ gateway, headers }) =>
      shape(headers['anthropic-version'] === undefined ? 'openai-chat' : 'claude').modelList(await lines(gateway)),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1beta/models',
    summary: 'Models that can be named here, in Gemini’s shape.',
    need: { kind: 'read' },
    query: ModelsQuery,
    response: AnyList,
    handle: async ({ gateway }) => shape('gemini').modelList(await lines(gateway)),
  }),
];
