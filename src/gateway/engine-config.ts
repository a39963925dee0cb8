import { z } from 'zod';
import { CallLimits } from '../calls/limits/call-limits.ts';
import { AbpError } from '../contract/errors.ts';
import { nearName } from '../contract/near-name.ts';
import { findDialect } from '../dialects/index.ts';
import type { Engine } from '../engines/engine.ts';
import { builtInEngine, engines } from '../engines/index.ts';
import { baseEngine, COMPATIBLE, engineOf } from '../engines/own.ts';
import type { TokenRates } from '../models/rates.ts';

const seconds = z.number().positive();
const dollars = z.number().min(0).max(1_000_000);

const headerTable = z.record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/, { error: 'is no name of a header' }), z.string().max(4096));

const Price = z.strictObject({
  input: dollars.describe('US dollars for a million tokens of input.'),
  output: dollars.describe('For a million tokens of output.'),
  cache_read: dollars.optional().describe('For a million tokens read from the cache; default: as input.'),
  cache_write: dollars.optional().describe('For a million tokens written to the cache; default: as input.'),
});

const OwnModel = z.strictObject({
  id: z.string().min(1).describe('Name of the model; * stands for anything.'),
  context_window: z.int().positive().optional().describe('Tokens that it takes; coding agents are told.'),
  max_output_tokens: z
    .int()
    .positive()
    .optional()
    .describe('Tokens that it writes at most; sent where a caller names no limit and the dialect needs one.'),
  price: Price.optional(),
});

/** One of several keys, addresses or regions of an engine. */
const DeploymentConfig = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: 'has letters, digits, dots, - and _' })
    .optional()
    .describe('How receipts, headers and lists call it; default: its region, else d1, d2, … in the order of the file.'),
  key: z.string().min(1).optional().describe('Its key; default: that of the engine. Better in ABP_ENGINE_<ID>_<NAME>_KEY.'),
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Its address; default: that of the engine.'),
  weight: z.number().positive().max(1_000_000).default(1).describe('Its part of the calls, measured by the weights of the others.'),
  region: z.string().min(1).max(64).optional().describe('Where it is, in your own words.'),
  headers: headerTable.optional().describe('Headers that its requests get beside those of the engine.'),
});
export type DeploymentConfig = z.infer<typeof DeploymentConfig>;

/** An engine as this installation reaches it, or one of its own. */
export const EngineConfig = z.strictObject({
  base: z
    .string()
    .min(1)
    .optional()
    .describe('Makes an engine of your own under any new name: a built-in engine that it is like, or openai-compatible.'),
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of the engine, with or without /v1; the paths of its dialect are appended.'),
  key: z.string().min(1).optional().describe('Key of the engine. Better in the environment.'),
  auth: z
    .enum(['key', 'caller', 'none'])
    .optional()
    .describe('Whose credential goes upstream: ours, the caller’s own, or none. Default: key where there is one.'),
  login_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Engine openai: address that takes ChatGPT logins instead of keys; default: that of the vendor.'),
  timeout_s: seconds.optional().describe('Seconds the engine may stay silent.'),
  max_connections: z.int().positive().optional().describe('Calls at the same time; more answer 503.'),
  limits: CallLimits.optional().describe('What all callers together may use of it at a time; more answer 429.'),
  deployments: z
    .array(DeploymentConfig)
    .min(1)
    .max(100)
    .superRefine((all, context) => {
      const names = all.map(deploymentName);
      const twice = names.findIndex((name, at) => names.indexOf(name) !== at);
      if (twice !== -1) context.addIssue({ code: 'custom', path: [twice, 'name'], message: `${names[twice]} is the name of another one` });
    })
    .optional()
    .describe('Several keys, addresses or regions that share its calls (docs/balancing.md); without it the engine has one.'),
  probe_s: seconds
    .max(3600)
    .optional()
    .describe('Seconds between questions whether each of its deployments is there; without it only those that failed are asked, every 10.'),
  prompt_cache: z
    .boolean()
    .optional()
    .describe('Engine sim: whether each deployment remembers prompts and tells in its usage what came from memory.'),
  headers: headerTable.optional().describe('Headers that every request to it gets, instead of the caller’s of the same name.'),
  price: Price.optional().describe('Engine of your own: what tokens cost; without it the price list of its base, if that has one.'),
  models: z
    .array(z.union([z.string().min(1), OwnModel]))
    .optional()
    .describe('Engine of your own: its models, as names or as tables {id, context_window, max_output_tokens, price}.'),
  ca_file: z.string().optional().describe('Extra certificate authority in PEM.'),
  breaker: z
    .strictObject({
      failures: z.int().positive().describe('Failures in a row (5xx, no connection, no answer) after which the engine is left alone.'),
      open_s: seconds.describe('Seconds it is left alone; calls answer E007 or go to a fallback meanwhile.'),
    })
    .optional()
    .describe('Circuit breaker; without it the engine is always called.'),
  file: z.string().optional().describe('Engine replay: a file of recordings to serve from; default: those of the home.'),
  timing: z.enum(['original', 'none']).optional().describe('Engine replay: whether chunks come when they came, or at once.'),
  ignore: z
    .array(z.string().min(1))
    .optional()
    .describe('Engine replay: JSON pointers whose values may differ, or the name of a coding agent.'),
});
export type EngineConfig = z.infer<typeof EngineConfig>;

/** How one of an engine's deployments is called. */
export function deploymentName({ name, region }: Pick<DeploymentConfig, 'name' | 'region'>, at: number): string {
  return name ?? region ?? `d${at + 1}`;
}

type EngineTable = Readonly<Record<string, EngineConfig>>;

/** The engines that a configuration adds. Throws where one is not built in and has no base, or where its base does not exist. */
export function enginesOf(table: EngineTable): Engine[] {
  return Object.entries(table).flatMap(([id, settings]) =>
    builtInEngine(id)?.id === id ? builtIn(id, settings) : [addedEngine(id, settings)],
  );
}

/** A built-in engine has the models and prices of its vendor. */
function builtIn(id: string, { base, models, price }: EngineConfig): [] {
  const wrong = base !== undefined ? 'base' : models !== undefined ? 'models' : price !== undefined ? 'price' : undefined;
  if (wrong === undefined) return [];
  throw new AbpError(
    'invalid_request',
    `engines.${id}.${wrong}: ${id} is built in; give yours a name of its own, with base = "${id}" beside it`,
  );
}

const NAME = /^[a-z][a-z0-9_-]{0,63}$/;

function addedEngine(id: string, { base, url, models = [], price, headers: _sent }: EngineConfig): Engine {
  if (base === undefined) throw new AbpError('invalid_request', unknownName(id, `engines.${id}`));
  const found = baseEngine(base, builtInEngine);
  if (found === undefined) throw new AbpError('invalid_request', `engines.${id}.base: there is no built-in engine "${base}"${near(base)}`);
  if (!NAME.test(id))
    throw new AbpError('invalid_request', `engines.${id}: a name has letters from a to z, digits, - and _, and begins with a letter`);
  const taken = builtInEngine(id);
  if (taken !== undefined)
    throw new AbpError('invalid_request', `engines.${id}: this is another name of ${taken.id}; choose one of your own`);
  if (url === undefined && found.endpoint !== undefined && found.endpoint.url === undefined)
    throw new AbpError('invalid_request', `engines.${id}.url: is required; ${base} has no address of its own`);
  return engineOf({
    id,
    base: found,
    rates: price === undefined ? undefined : ratesOf(price),
    models: models.map((model) => {
      if (typeof model === 'string') return { id: model };
      const { context_window: contextWindow, max_output_tokens: maxOutputTokens, price: own } = model;
      return { id: model.id, contextWindow, maxOutputTokens, rates: own === undefined ? undefined : ratesOf(own) };
    }),
  });
}

function ratesOf({ input, output, cache_read: cacheRead, cache_write: cacheWrite }: z.infer<typeof Price>): TokenRates {
  return { input, output, cacheRead, cacheWrite };
}

function near(name: string, own: readonly string[] = []): string {
  const known = [...engines.map(({ id }) => id), ...own, COMPATIBLE];
  const one = nearName(name, known);
  return one === undefined ? `; known are ${known.join(', ')}.` : `; did you mean ${one}?`;
}

/** The sentence that tells an operator that no engine has this name. */
function unknownName(name: string, where: string, own: readonly string[] = []): string {
  const advice = `An engine of your own needs base = "${COMPATIBLE}" (or a built-in one) and url.`;
  return `${where}: there is no engine "${name}"${near(name, own)} ${advice}`;
}

interface Routed {
  readonly to: string;
  readonly fallback: readonly string[];
}

/** Throws where a route leads to an engine that is neither built in nor added, or that does not speak the dialect it names. */
export function checkRoutes(routes: readonly Routed[], own: readonly Engine[]): void {
  for (const [at, { to, fallback }] of routes.entries()) {
    checkPlace(to, `routes[${at}].to`, own);
    for (const [index, place] of fallback.entries()) checkPlace(place, `routes[${at}].fallback[${index}]`, own);
  }
}

function checkPlace(place: string, where: string, own: readonly Engine[]): void {
  const [prefix = place, ...model] = place.split('/');
  const [name = '', dialect] = prefix.split(':');
  const engine = builtInEngine(name) ?? own.find(({ id }) => id === name);
  const ids = own.map(({ id }) => id);
  if (engine === undefined) throw new AbpError('invalid_request', unknownName(name, where, ids));
  if (dialect !== undefined && !engine.dialects.includes(dialect))
    throw new AbpError('invalid_request', `${where}: ${name} does not speak "${dialect}"; it speaks ${engine.dialects.join(', ')}`);
  if (model.length > 0 && model.join('/').trim() === '')
    throw new AbpError('invalid_request', `${where}: "${place}" names no model; leave the / out to keep the one that the caller asks for`);
}

/** Paths that people copy along with an address, longest first: those of the engine's dialects, and the version that they begin with. */
function copiedPaths({ dialects }: Engine): string[] {
  const paths = dialects.flatMap((id) => {
    const { paths: own = [], prefix = '' } = findDialect(id) ?? {};
    return own.map(({ path }) => path.slice(prefix.length)).filter((path) => /^\/v\d/.test(path));
  });
  return [...paths.filter((path) => !path.includes('{')), ...new Set(paths.map((path) => `/${path.split('/')[1]}`))];
}

/** The part of an engine's address that stands before the paths of its dialects, however much of those the address repeats. */
export function basePathOf(engine: Engine, url: URL): string {
  const path = url.pathname.replace(/\/$/, '');
  const copied = copiedPaths(engine).find((one) => path.endsWith(one));
  return copied === undefined ? path : path.slice(0, -copied.length);
}
