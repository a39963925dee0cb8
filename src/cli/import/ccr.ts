import { z } from 'zod';
import { COMPATIBLE } from '../../engines/own.ts';
import { Draft, type Upstream } from './draft.ts';
import { memberOf, sayRest } from './leaves.ts';
import { engineAt, isOwnAddress } from './providers.ts';

const Provider = z.looseObject({
  name: z.string(),
  api_base_url: z.string(),
  api_key: z.string().default(''),
  models: z.array(z.string()).default([]),
  transformer: z.looseObject({ use: z.array(z.unknown()).default([]) }).nullish(),
});
type Provider = z.infer<typeof Provider>;

export const CcrConfig = z.looseObject({
  Providers: z.array(Provider).default([]),
  Router: z.record(z.string(), z.unknown()).default({}),
  APIKEY: z.string().nullish(),
  HOST: z.string().nullish(),
  PORT: z.coerce.number().int().nullish(),
  API_TIMEOUT_MS: z.coerce.number().positive().nullish(),
});
export type CcrConfig = z.infer<typeof CcrConfig>;

type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration of claude-code-router in our words. */
export function fromCcr(config: CcrConfig, env: Environment): Draft {
  const draft = new Draft();
  const engines = new Map<string, string>();
  const timeout = typeof config.API_TIMEOUT_MS === 'number' ? config.API_TIMEOUT_MS / 1000 : undefined;
  for (const [at, provider] of config.Providers.entries()) {
    const upstream = upstreamOf(draft, provider, `Providers[${at}]`, { timeout, env });
    if (upstream === undefined) {
      for (const name of Object.keys(provider).filter((one) => !NAMED.has(one)))
        draft.remark(`Providers[${at}].${name}`, `left out with ${provider.name}`);
      continue;
    }
    const engine = draft.engine(upstream, provider.name);
    engines.set(provider.name, engine);
    for (const id of provider.models) draft.engine(upstream, provider.name, { id });
    if (provider.models.length > 0 && !draft.listsModels(engine))
      draft.remark(`Providers[${at}].models`, `the engine ${engine} lists its models itself: abp models`);
    sayTransformers(draft, provider, `Providers[${at}]`);
  }
  takeRoutes(draft, config.Router, engines);
  takeServer(draft, config);
  for (const name of Object.keys(config).filter((one) => !TAKEN.has(one))) draft.remark(name, WORDS[name] ?? 'no counterpart');
  sayRest(draft, config, KNOWN);
  return draft;
}

/** Members that the remark on a provider which is left out names. */
const NAMED = new Set(['name', 'api_base_url']);

/** The values that are translated, or that are spoken of where they are. */
const KNOWN = [
  ...[
    'name',
    'api_base_url',
    'api_key',
    'models.[]',
    'transformer.use.[]',
    'transformer.use.[].[]',
    'transformer.*.use.[]',
    'transformer.*.use.[].[]',
  ].map((path) => `Providers.[].${path}`),
  'Router.default',
  'Router.background',
  'APIKEY',
  'HOST',
  'PORT',
  'API_TIMEOUT_MS',
];

const TAKEN = new Set(['Providers', 'Router', 'APIKEY', 'HOST', 'PORT', 'API_TIMEOUT_MS']);
const WORDS: Readonly<Record<string, string>> = {
  PROXY_URL: 'set HTTPS_PROXY where the server is started',
  LOG: 'ABP_LOG=debug',
  LOG_LEVEL: 'ABP_LOG',
  transformers: 'requests are translated by what each engine can do; abp explain shows how',
  CUSTOM_ROUTER_PATH: 'routes go by the name of the model alone',
  NON_INTERACTIVE_MODE: 'not needed',
  StatusLine: 'Claude Code’s own setting',
};

/** How long engines may be silent, and the variables that addresses are read from. */
interface Surroundings {
  readonly timeout: number | undefined;
  readonly env: Environment;
}

function upstreamOf(draft: Draft, provider: Provider, where: string, { timeout, env }: Surroundings): Upstream | undefined {
  const address = env[variableIn(provider.api_base_url) ?? ''] ?? provider.api_base_url;
  if (!URL.canParse(address)) {
    draft.remark(`${where}.api_base_url`, `${address} is no address; ${provider.name} is left out`);
    return undefined;
  }
  const [spoken, place] = placeOf(address);
  const base = engineAt(new URL(place), provider.name) ?? spoken;
  const isOwn = base !== COMPATIBLE && isOwnAddress(base, place);
  const url = isOwn ? undefined : place;
  if (url !== undefined && base === COMPATIBLE && !/\/v1\/?$/.test(new URL(url).pathname)) {
    draft.remark(
      `${where}.api_base_url`,
      `engines here are called at <address>/v1/chat/completions, and ${address} is elsewhere; ${provider.name} is left out`,
    );
    return undefined;
  }
  const keyVariable = variableIn(provider.api_key);
  return {
    base,
    url,
    key: keyVariable === undefined && provider.api_key !== '' ? provider.api_key : undefined,
    keyVariable,
    timeoutS: timeout,
  };
}

/** Addresses there name the path that is called; the path tells what is spoken at it. */
const PATHS: readonly (readonly [path: RegExp, base: string])[] = [
  [/\/chat\/completions\/?$/, COMPATIBLE],
  [/\/v1\/messages\/?$/, 'claude'],
  [/\/v1beta\/models\/?$/, 'gemini'],
];

/** The engine that speaks as the address says, and where it is without the path. */
function placeOf(address: string): readonly [base: string, place: string] {
  const [path, base] = PATHS.find(([one]) => one.test(address)) ?? [/\/$/, COMPATIBLE];
  return [base, address.replace(path, '')];
}

/** `$NAME` and `${NAME}` read a variable. */
function variableIn(value: string): string | undefined {
  return /^\$\{?(\w+)\}?$/.exec(value)?.[1];
}

/** The names of transformers in a list; one with options is a list of its name and them. */
function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map((one) => (Array.isArray(one) ? String(one[0]) : String(one))) : [];
}

function sayTransformers(draft: Draft, { transformer }: Provider, where: string): void {
  if (transformer === undefined || transformer === null) return;
  const all = Object.entries(transformer).flatMap(([model, terms]) => {
    const named = namesIn(model === 'use' ? terms : memberOf(terms, 'use'));
    return model === 'use' ? named : [`those of ${model} (${named.join(', ')})`];
  });
  const said = all.join(', ');
  draft.note(`${where}.transformer`, `${said}: not needed, requests are translated by what the engine and its model take`);
  const limits = transformer.use.filter((one) => Array.isArray(one) && one[0] === 'maxtoken');
  if (limits.length > 0) draft.note(`${where}.transformer.maxtoken`, 'callers set the most tokens of an answer themselves');
}

/** Names that Claude Code gives its small model, and all its models. */
const MATCHES: Readonly<Record<string, string>> = { background: 'claude-*haiku*', default: 'claude-*' };
const CHOICES: Readonly<Record<string, string>> = {
  think: 'routes go by the name of the model, not by whether it shall think',
  longContext: 'routes go by the name of the model, not by the length of a request',
  longContextThreshold: 'routes go by the name of the model, not by the length of a request',
  webSearch: 'routes go by the name of the model, not by the tools of a request',
  image: 'routes go by the name of the model, not by what a request holds',
};

function takeRoutes(draft: Draft, router: CcrConfig['Router'], engines: ReadonlyMap<string, string>): void {
  for (const [name, match] of Object.entries(MATCHES)) {
    const place = router[name];
    if (typeof place !== 'string' || place === '') continue;
    const [provider = '', ...model] = place.split(',').map((part) => part.trim());
    const engine = engines.get(provider);
    if (engine === undefined) draft.remark(`Router.${name}`, `there is no provider ${provider}; the route is left out`);
    else draft.routes.push({ match, to: `${engine}/${model.join(',')}`, emulate: ['extended_thinking'] });
  }
  for (const [name, place] of Object.entries(router)) {
    if (name in MATCHES || place === '') continue;
    const [provider = '', ...model] = String(place).split(',');
    const engine = engines.get(provider.trim());
    const byName = engine === undefined ? '' : `; ask for it by name: ${engine}/${model.join(',').trim()}`;
    draft.remark(`Router.${name}`, `${CHOICES[name] ?? 'no counterpart'}${byName}`);
  }
}

function takeServer(draft: Draft, { APIKEY: key, HOST: host, PORT: port }: CcrConfig): void {
  if (typeof port === 'number') draft.server.port = port;
  if (typeof host === 'string' && !/^(?:127\.|localhost$|::1$)/.test(host))
    draft.remark(
      'HOST',
      `${host}: beyond this machine a server needs TLS (server.cert_file) or a proxy (server.trust_proxy); it stays on 127.0.0.1`,
    );
  if (typeof key !== 'string' || key === '') return;
  draft.auth.local = false;
  draft.remark('APIKEY', 'keys are made here: abp keys create claude-code. auth.local is off, as callers needed a key');
}
