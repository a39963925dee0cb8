import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Json, JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Dialect, ModelLine } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import type { Engine } from '../../engines/engine.ts';
import type { Gateway } from '../gateway.ts';
import { defineRoute } from '../route.ts';

/** When a list of ours was made says nothing; SDKs want a number. */
const LISTED_AT = Date.UTC(2026, 0, 1);
const AnyList = z.looseObject({});
const ModelsQuery = z.looseObject({});
const ModelParams = z.strictObject({ id: z.string().min(1) });

/** Aliases of the route table first, then every model of every engine that has a key, under `engine/model`. */
async function lines(gateway: Gateway): Promise<ModelLine[]> {
  const { catalogueOf } = await import('../../models/catalogue.ts');
  const aliases = gateway.routes.rows
    .filter(({ match }) => !match.includes('*'))
    .map(({ match, to }): ModelLine => ({ id: match, name: `${match} → ${to}`, owner: to.split('/')[0] ?? to, createdAtMs: LISTED_AT }));
  const known = [...gateway.calls.deployments.values()].flatMap(({ first: { engine, key } }): ModelLine[] => {
    if (engine.base !== undefined)
      return ownModels(engine).map((id) => ({ id: `${engine.id}/${id}`, name: id, owner: engine.id, createdAtMs: LISTED_AT }));
    if (engine.transport === undefined && key === undefined) return [];
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

/** The models that the configuration names for an engine of its own. */
function ownModels({ models }: Engine): string[] {
  return models.map(({ match }) => match).filter((match) => !match.includes('*'));
}

function shape(id: string): Dialect {
  const dialect = findDialect(id);
  if (dialect === undefined) throw new AbpError('internal', `the dialect ${id} is not registered`);
  return dialect;
}

/** Where SDKs look for models, and whose shape they expect there. */
const LISTS: readonly { readonly path: string; readonly whose: string; dialectOf(headers: IncomingHttpHeaders): Dialect }[] = [
  {
    path: '/v1/models',
    whose: 'the shape of the caller’s SDK: Claude’s with anthropic-version, else OpenAI’s',
    dialectOf: (headers) => shape(headers['anthropic-version'] === undefined ? 'openai-chat' : 'claude'),
  },
  { path: '/v1beta/models', whose: 'Gemini’s shape', dialectOf: () => shape('gemini') },
  { path: '/kimi/v1/models', whose: 'Kimi’s shape', dialectOf: () => shape('kimi') },
  { path: '/copilot/models', whose: 'Copilot’s shape', dialectOf: () => shape('copilot') },
];

/** The line of a model, under the name the caller gives it: as it is listed, or as its own engine calls it. */
function lineOf(all: readonly ModelLine[], id: string): ModelLine {
  const found = all.find((line) => line.id === id) ?? all.find((line) => line.id === `${line.owner}/${id}`);
  if (found === undefined) throw new AbpError('not_found', `There is no model "${id}" here; GET /v1/models lists what there is.`);
  return { ...found, id };
}

/** The one member of a list of one. */
function onlyOf(list: JsonObject): Json {
  return Object.values(list).find((member): member is Json[] => Array.isArray(member))?.[0] ?? {};
}

export const modelRoutes = LISTS.flatMap(({ path, whose, dialectOf }) => [
  defineRoute({
    method: 'GET',
    path,
    summary: `Models that can be named here, in ${whose}.`,
    query: ModelsQuery,
    response: AnyList,
    handle: async ({ gateway, headers }) => dialectOf(headers).modelList(await lines(gateway)),
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/{id}`,
    summary: `One of these models, in ${whose}.`,
    params: ModelParams,
    query: ModelsQuery,
    response: AnyList,
    handle: async ({ gateway, headers, params }) => onlyOf(dialectOf(headers).modelList([lineOf(await lines(gateway), params.id)])),
  }),
]);
