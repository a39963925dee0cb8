import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Json, JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Dialect, ModelLine } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import type { Engine } from '../../engines/engine.ts';
import { chooseEngine } from '../../engines/index.ts';
import type { Gateway } from '../gateway.ts';
import { defineRoute } from '../route.ts';
import { readerOf } from '../vendor/marks.ts';
import { PINNED } from '../vendor/model-lists.ts';

/** When a list of ours was made says nothing; SDKs want a number. */
const LISTED_AT = Date.UTC(2026, 0, 1);
const AnyList = z.looseObject({});
const ModelsQuery = z.looseObject({});
const ModelParams = z.strictObject({ id: z.string().min(1) });

/** Aliases of the route table first, then every model of every engine that has a key, under `engine/model`. */
async function lines(gateway: Gateway): Promise<ModelLine[]> {
  const aliases = gateway.routes.rows
    .filter(({ match }) => !match.includes('*'))
    .map(({ match, to }): ModelLine => ({ id: match, name: `${match} → ${to}`, owner: to.split('/')[0] ?? to, createdAtMs: LISTED_AT }));
  const open = [...gateway.calls.deployments.values()].filter(({ first: { engine, key } }) =>
    [engine.base, engine.transport, key].some((one) => one !== undefined),
  );
  const known = await Promise.all(open.map(({ first: { engine } }) => modelsOf(engine)));
  return [...aliases, ...known.flat().map((line) => ({ ...line, id: `${line.owner}/${line.id}` }))];
}

/** The models of an engine, by the names that it knows them by. */
async function modelsOf(engine: Engine): Promise<ModelLine[]> {
  const { catalogueOf } = await import('../../models/catalogue.ts');
  const named = ownModels(engine).map((id) => ({ id, name: id }));
  const sample = engine.sample === undefined ? [] : [{ id: engine.sample, name: engine.name }];
  const models = engine.base !== undefined ? named : engine.prices === undefined ? sample : catalogueOf(engine.prices);
  return models.map(({ id, name }) => ({ id, name, owner: engine.id, createdAtMs: LISTED_AT }));
}

/** The models that a caller can name: those of the engine that the path pins, or all. What is built in answers to every name. */
async function linesFor(gateway: Gateway, headers: IncomingHttpHeaders): Promise<ModelLine[]> {
  const engine = pinned(headers);
  const own = engine === undefined || engine.transport !== undefined ? [] : await modelsOf(engine);
  return own.length > 0 ? own : await lines(gateway);
}

function pinned(headers: IncomingHttpHeaders): Engine | undefined {
  const name = headers[PINNED];
  return typeof name === 'string' ? chooseEngine(name)?.engine : undefined;
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
    whose: 'the shape of the caller’s SDK: Claude’s with anthropic-version, Google’s with its headers, else OpenAI’s',
    dialectOf: (headers) => readerOf(headers, undefined) ?? shape('openai-chat'),
  },
  { path: '/v1beta/models', whose: 'Gemini’s shape', dialectOf: () => shape('gemini') },
  { path: '/kimi/v1/models', whose: 'Kimi’s shape', dialectOf: () => shape('kimi') },
  { path: '/copilot/models', whose: 'Copilot’s shape', dialectOf: () => shape('copilot') },
];

/** The line of a model, under the name the caller gives it: as it is listed, or as its own engine calls it; `sim` has every name. */
function lineOf(all: readonly ModelLine[], id: string, engine: Engine | undefined): ModelLine {
  const found = all.find((line) => line.id === id) ?? all.find((line) => line.id === `${line.owner}/${id}`);
  if (found === undefined && engine?.sample !== undefined) return { id, name: id, owner: engine.id, createdAtMs: LISTED_AT };
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
    handle: async ({ gateway, headers }) => dialectOf(headers).modelList(await linesFor(gateway, headers)),
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/{id}`,
    summary: `One of these models, in ${whose}.`,
    params: ModelParams,
    query: ModelsQuery,
    response: AnyList,
    handle: async ({ gateway, headers, params }) => {
      const line = lineOf(await linesFor(gateway, headers), params.id, pinned(headers));
      return onlyOf(dialectOf(headers).modelList([line]));
    },
  }),
]);
