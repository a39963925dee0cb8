import { isDeepStrictEqual } from 'node:util';
import { COMPATIBLE } from '../../engines/own.ts';
import { Draft, type DraftModel, type DraftRoute, type Upstream } from './draft.ts';
import { sayRest } from './leaves.ts';
import { type Deployment, type LitellmConfig, Parameters, periodOf, variableIn } from './litellm-config.ts';
import { withCredentials } from './litellm-credentials.ts';
import { KNOWN, sayIdle } from './litellm-known.ts';
import { type EngineTerms, engineTerms, takeSettings } from './litellm-settings.ts';
import { isOwnAddress, LITELLM_ADDRESSES, LITELLM_PROVIDERS } from './providers.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A LiteLLM configuration in our words. */
export function fromLitellm(file: LitellmConfig, env: Environment): Draft {
  const draft = new Draft();
  const config = withCredentials(draft, file);
  const terms = engineTerms(draft, config);
  const found = config.model_list.flatMap((deployment, at) => foundOf(draft, deployment, `model_list[${at}]`, env) ?? []);
  const groups = new Map<string, string[]>();
  for (const [name, all] of Map.groupBy(found, ({ deployment }) => deployment.model_name)) {
    // The same model of the same provider is one engine, whose deployments share the calls.
    const engines = Map.groupBy(all, ({ base, provider, model }) => `${base} ${provider} ${model}`);
    groups.set(
      name,
      [...engines.values()].map((deployments) => placeOf(draft, deployments, terms)),
    );
  }
  const rest = takeSettings(draft, config);
  for (const [name, places] of groups) draft.routes.push(routeOf(draft, { name, places, groups, rest }));
  for (const [alias, name] of Object.entries(rest.aliases)) {
    const places = groups.get(name);
    if (places === undefined) draft.remark(`router_settings.model_group_alias.${alias}`, `there is no model ${name}`);
    else draft.routes.push(routeOf(draft, { name: alias, places, groups, rest }));
  }
  for (const name of new Set(rest.fallbackNames)) {
    if (!groups.has(name) && rest.aliases[name] === undefined)
      draft.remark(`fallbacks.${name}`, `there is no model ${name} in the list; its fallbacks are left out`);
  }
  // The first route that matches counts: names with a star come after those without.
  draft.routes.sort((a, b) => Number(a.match.includes('*')) - Number(b.match.includes('*')));
  sayRest(draft, file, KNOWN);
  return draft;
}

interface Group {
  readonly name: string;
  readonly places: readonly string[];
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly rest: ReturnType<typeof takeSettings>;
}

/** Deployments of one name, then those of the names that stand in for it. */
function routeOf(draft: Draft, { name, places: [to = '', ...others], groups, rest }: Group): DraftRoute {
  const standIns = rest.fallbacksOf(name).flatMap((other) => {
    const places = groups.get(other);
    if (places === undefined) draft.remark(`fallbacks.${name}`, `there is no model ${other} in the list; the fallback is left out`);
    return places ?? [];
  });
  if (others.length > 0)
    draft.remark(
      `model_list: ${name}`,
      `its ${others.length + 1} models are tried in their order when one fails, instead of sharing the calls: only deployments of one model of one provider share them`,
    );
  const fallback = [...new Set([...others, ...standIns])].filter((place) => place !== to);
  return {
    match: name,
    to,
    ...(fallback.length === 0 ? {} : { fallback }),
    ...(rest.attempts > 1 ? { attempts: rest.attempts } : {}),
    ...(rest.cache === undefined ? {} : { cache: rest.cache }),
  };
}

/** A deployment of LiteLLM with what serves it here. */
interface Found extends Provided {
  readonly deployment: Deployment;
  readonly url: string | undefined;
  readonly where: string;
}

/** Undefined where nothing here serves it. */
function foundOf(draft: Draft, deployment: Deployment, where: string, env: Environment): Found | undefined {
  const { litellm_params: parameters, model_name: name } = deployment;
  const found = providerOf(parameters.model);
  if (found === undefined) {
    draft.remark(`${where}.litellm_params.model`, `${parameters.model}: no engine here serves this provider; ${name} is left out`);
    sayLeftOut(draft, deployment, where);
    return undefined;
  }
  const { base, provider } = found;
  const url = addressOf(draft, { parameters, base, provider, where: `${where}.litellm_params`, env });
  if (base === COMPATIBLE && url === undefined) {
    draft.remark(`${where}.litellm_params`, `${provider} has no address; ${name} is left out`);
    return undefined;
  }
  sayLeftovers(draft, deployment, where, base);
  sayIdle(draft, deployment, where);
  return { ...found, deployment, url, where };
}

/** The engine and model of deployments that share their calls. */
function placeOf(draft: Draft, all: readonly Found[], terms: EngineTerms): string {
  const upstreams = all.map(({ deployment, base, url, model }) =>
    upstreamOf({ deployment, base, url, terms, own: modelOf(deployment, model) }),
  );
  const [first, ...others] = upstreams;
  const [one] = all;
  if (one === undefined || first === undefined) return '';
  const own = modelOf(one.deployment, one.model);
  const isShared = others.some((other) => !isDeepStrictEqual(other, first));
  const upstream = isShared ? sharedUpstream(upstreams, all) : first;
  for (const name of limitNames(upstreams).filter((limit) => upstream?.limits?.[limit] === undefined))
    draft.note(one.where, `its limit ${name} is not held: another deployment of the same model has none, and limits are of all of them`);
  const engine = draft.engine(upstream, one.base === COMPATIBLE ? one.provider : one.base, own);
  sayOfModels(draft, all, engine);
  if (isShared) sayOfShared(draft, all, upstream);
  else
    for (const { where, deployment } of all)
      if (typeof deployment.litellm_params.weight === 'number') draft.remark(`${where}.litellm_params.weight`, LONE);
  const limited = all.filter(({ deployment }) => typeof deployment.litellm_params.max_budget === 'number');
  for (const some of Map.groupBy(limited, ({ deployment }) => deployment.litellm_params.budget_duration ?? '').values())
    takeBudget(draft, some, engine);
  return one.model === '*' ? engine : `${engine}/${one.model}`;
}

function limitNames(upstreams: readonly Upstream[]): string[] {
  return [...new Set(upstreams.flatMap(({ limits = {} }) => Object.keys(limits)))];
}

/** One upstream of several: what they have in common is the engine's, the rest is of each deployment. */
function sharedUpstream(upstreams: readonly Upstream[], all: readonly Found[]): Upstream {
  const [first] = upstreams;
  const isCommon = (member: 'url' | 'headers'): boolean => upstreams.every((one) => isDeepStrictEqual(one[member], first?.[member]));
  // A deployment without a limit leaves all of them without one.
  const held = limitNames(upstreams).filter((name) => upstreams.every(({ limits }) => limits?.[name] !== undefined));
  const limits = held.map((name) => [name, upstreams.reduce((sum, one) => sum + (one.limits?.[name] ?? 0), 0)]);
  return {
    base: first?.base ?? COMPATIBLE,
    url: first?.url,
    headers: isCommon('headers') ? first?.headers : undefined,
    breaker: first?.breaker,
    timeoutS: upstreams.map(({ timeoutS }) => timeoutS).find((timeout) => timeout !== undefined),
    limits: limits.length === 0 ? undefined : Object.fromEntries(limits),
    apart: upstreams.find(({ apart }) => apart !== undefined)?.apart,
    deployments: upstreams.map(({ key, keyVariable, url, headers }, at) => ({
      name: `d${at + 1}`,
      key,
      keyVariable,
      ...(isCommon('url') ? {} : { url }),
      weight: weightOf(all[at]?.deployment),
      ...(isCommon('headers') ? {} : { headers }),
    })),
  };
}

/** LiteLLM's shuffle weighs by weight, else by requests or tokens in a minute. */
function weightOf(deployment: Deployment | undefined): number | undefined {
  const parameters = deployment?.litellm_params;
  const given = [parameters?.weight, parameters?.rpm ?? deployment?.rpm, parameters?.tpm ?? deployment?.tpm];
  return given.find((weight): weight is number => typeof weight === 'number' && weight > 0);
}

interface Provided {
  readonly provider: string;
  readonly base: string;
  readonly model: string;
}

function providerOf(name: string): Provided | undefined {
  const [provider = '', ...rest] = name.split('/');
  const base = LITELLM_PROVIDERS[provider];
  if (rest.length > 0 && base !== undefined) return { provider, base, model: rest.join('/') };
  if (rest.length > 0) return undefined;
  if (/^(?:gpt-|chatgpt-|o\d|text-embedding)/.test(name)) return { provider: 'openai', base: 'openai', model: name };
  return name.startsWith('claude-') ? { provider: 'anthropic', base: 'claude', model: name } : undefined;
}

interface Addressed {
  readonly parameters: Parameters;
  readonly base: string;
  readonly provider: string;
  readonly where: string;
  readonly env: Environment;
}

/** The address where it is not the one that the engine has anyway. */
function addressOf(draft: Draft, { parameters, base, provider, where, env }: Addressed): string | undefined {
  const given = parameters.api_base ?? parameters.base_url ?? LITELLM_ADDRESSES[provider];
  if (given === undefined || given === null) return undefined;
  const variable = variableIn(given);
  const value = variable === undefined ? given : env[variable];
  if (value === undefined || !URL.canParse(value)) {
    draft.remark(`${where}.api_base`, `${variable ?? given} is not set here: write the address into url of the engine`);
    return `https://${(variable ?? 'address').toLowerCase().replaceAll('_', '-')}.invalid`;
  }
  // Both forms reach the same server, and should be the same engine.
  if (base !== 'azure-openai') return isOwnAddress(base, value) ? undefined : value.replace(/\/$/, '').replace(/\/v1$/, '');
  if ('api_version' in parameters) draft.remark(`${where}.api_version`, 'Azure’s v1 API is called, which has no versions by date');
  const { origin, pathname } = new URL(value);
  return pathname.startsWith('/openai') ? value : `${origin}/openai`;
}

interface Deployed {
  readonly deployment: Deployment;
  readonly base: string;
  readonly url: string | undefined;
  readonly own: DraftModel | undefined;
  readonly terms: EngineTerms;
}

function upstreamOf({ deployment, base, url, own, terms }: Deployed): Upstream {
  const { litellm_params: parameters, rpm, tpm } = deployment;
  const { api_key: key, timeout } = parameters;
  const limits = Object.entries({
    requests_per_minute: parameters.rpm ?? rpm,
    tokens_per_minute: parameters.tpm ?? tpm,
    concurrency: parameters.max_parallel_requests,
  }).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  const keyVariable = typeof key === 'string' ? variableIn(key) : undefined;
  const isApart = limits.length > 0 || own?.price !== undefined || typeof parameters.max_budget === 'number';
  return {
    base,
    url,
    key: typeof key === 'string' && keyVariable === undefined ? key : undefined,
    keyVariable,
    headers: headersOf(base, parameters),
    breaker: terms.breaker,
    timeoutS: timeout ?? terms.timeoutS,
    limits: limits.length === 0 ? undefined : Object.fromEntries(limits),
    apart: isApart ? parameters.model : undefined,
  };
}

/** The prices and bounds that the file gives a model; undefined where it gives none, and for names with a star, which are no model. */
function modelOf({ litellm_params: parameters, model_info: info }: Deployment, id: string): DraftModel | undefined {
  if (id === '*') return undefined;
  const [input, output] = [
    parameters.input_cost_per_token ?? info?.input_cost_per_token,
    parameters.output_cost_per_token ?? info?.output_cost_per_token,
  ];
  const written = info?.max_output_tokens ?? info?.max_tokens;
  return {
    id,
    ...(typeof info?.max_input_tokens === 'number' ? { contextWindow: info.max_input_tokens } : {}),
    ...(typeof written === 'number' ? { maxOutputTokens: written } : {}),
    ...(typeof input === 'number' && typeof output === 'number' ? { price: { input: perMillion(input), output: perMillion(output) } } : {}),
  };
}

function perMillion(perToken: number): number {
  return Number((perToken * 1e6).toPrecision(12));
}

const LONE = 'it has no other deployment to share its calls with';

/** Headers that every call gets; the organization of a key of OpenAI is one. */
function headersOf(base: string, { extra_headers: headers, organization }: Parameters): Readonly<Record<string, string>> | undefined {
  if (base !== 'openai' || !isPlain(organization)) return headers ?? undefined;
  return { 'openai-organization': organization, ...headers };
}

/** A text that is no name of a variable. */
function isPlain(value: string | null | undefined): value is string {
  return typeof value === 'string' && variableIn(value) === undefined;
}

/** Facts about a model in the file count for engines of one's own; the others know their models. */
function sayOfModels(draft: Draft, all: readonly Found[], engine: string): void {
  for (const { where, deployment } of all) {
    const isTaken = draft.listsModels(engine) && modelOf(deployment, all[0]?.model ?? '*') !== undefined;
    for (const name of ['max_input_tokens', 'max_output_tokens', 'max_tokens'] as const)
      if (!isTaken && typeof deployment.model_info?.[name] === 'number')
        draft.remark(`${where}.model_info.${name}`, `the engine ${engine} knows the bounds of its models: abp models`);
  }
}

/** Deployments that share an engine have one timeout. */
function sayOfShared(draft: Draft, all: readonly Found[], { timeoutS }: Upstream): void {
  for (const { where, deployment } of all) {
    const own = deployment.litellm_params.timeout;
    if (typeof own === 'number' && own !== timeoutS)
      draft.remark(`${where}.litellm_params.timeout`, `deployments of a model share timeout_s, which is ${timeoutS}`);
  }
}

/** The values of a deployment that nothing here serves. */
function sayLeftOut(
  draft: Draft,
  { model_name: name, litellm_params: parameters, model_info: info, ...rest }: Deployment,
  where: string,
): void {
  const places = [
    ...Object.keys(parameters)
      .filter((one) => one !== 'model')
      .map((one) => `litellm_params.${one}`),
    ...Object.keys(info ?? {}).map((one) => `model_info.${one}`),
    ...Object.keys(rest),
  ];
  for (const place of places) draft.remark(`${where}.${place}`, `left out with ${name}`);
}

const TAKEN = new Set([...Object.keys(Parameters.shape), 'api_version', 'stream_timeout']);

/** Members that have no counterpart, by name. */
function sayLeftovers(draft: Draft, { litellm_params: parameters, model_info: info }: Deployment, where: string, base: string): void {
  for (const name of Object.keys(parameters).filter((one) => !TAKEN.has(one)))
    draft.remark(`${where}.litellm_params.${name}`, 'no counterpart: callers send it themselves');
  if ('stream_timeout' in parameters)
    draft.remark(`${where}.litellm_params.stream_timeout`, 'timeout_s of the engine holds for streams, too');
  if (typeof parameters.organization === 'string' && !(base === 'openai' && isPlain(parameters.organization)))
    draft.remark(`${where}.litellm_params.organization`, 'send it by headers of the engine');
  if ('api_version' in parameters && base !== 'azure-openai')
    draft.remark(`${where}.litellm_params.api_version`, 'only Azure’s calls have versions by date');
  if (info?.mode !== undefined && info.mode !== null && info.mode !== 'chat')
    draft.remark(`${where}.model_info.mode`, `${info.mode}: paths other than those of conversations pass through under /e/<engine>/`);
}

/** The budgets of deployments for the same time are one. */
function takeBudget(draft: Draft, some: readonly Found[], engine: string): void {
  const dollars = some.reduce((sum, { deployment }) => sum + (deployment.litellm_params.max_budget ?? 0), 0);
  const duration = some[0]?.deployment.litellm_params.budget_duration;
  const period = periodOf(duration);
  if (period !== undefined) draft.budgets.push({ on: { engine }, period, limit_nano_usd: Math.max(1, Math.round(dollars * 1e9)) });
  else
    for (const { where } of some)
      draft.remark(
        `${where}.litellm_params.budget_duration`,
        `${duration}: periods here are hour, day, week, month and total; the budget is left out`,
      );
}
