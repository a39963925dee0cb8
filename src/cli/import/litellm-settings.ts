import { isJsonObject, type Json, type JsonObject, objectIn } from '../../base/json.ts';
import type { Draft, DraftRoute, Upstream } from './draft.ts';
import { type LitellmConfig, periodOf } from './litellm-config.ts';
import { KNOWN, sayShadowed } from './litellm-known.ts';
import { LITELLM_PROVIDERS } from './providers.ts';

/** Settings that LiteLLM's sections beside the models give to all of them. */
interface Settings {
  /** Tries on one engine. */
  readonly attempts: number;
  readonly aliases: Readonly<Record<string, string>>;
  /** Of every route. */
  readonly cache: DraftRoute['cache'];
  /** The models that have stand-ins of their own. */
  readonly fallbackNames: readonly string[];
  fallbacksOf(name: string): readonly string[];
}

/** The name in a list of fallbacks that stands for every model without an entry of its own. */
const ANY_MODEL = '*';

const MOST_ATTEMPTS = 10;

/** Values that became something here, or that need no word: their places in the file. */
const TAKEN = new Set(KNOWN.map((path) => path.split('.', 2).join('.')));

/** Sentences for settings that have no counterpart of their own: they say how the same is had here. Others get the general sentence. */
const WORDS: Readonly<Record<string, string>> = {
  'router_settings.routing_strategy':
    'deployments share calls by weight and by how busy they are, and a conversation stays where its prompt is cached',
  'router_settings.enable_tag_filtering': 'routes go by the name of the model; a key may be bound to engines: abp keys create --engines',
  'router_settings.redis_host': 'not needed: nodes share PostgreSQL (ABP_DATABASE_URL)',
  'router_settings.redis_port': 'not needed: nodes share PostgreSQL (ABP_DATABASE_URL)',
  'router_settings.redis_password': 'not needed: nodes share PostgreSQL (ABP_DATABASE_URL)',
  'router_settings.context_window_fallbacks': 'a request that is too long is the caller’s error',
  'litellm_settings.context_window_fallbacks': 'a request that is too long is the caller’s error',
  'litellm_settings.content_policy_fallbacks': 'what an engine refuses is its answer',
  'litellm_settings.drop_params': 'the default: what has no form is dropped and named in the receipt, or refused where it matters',
  'litellm_settings.set_verbose': 'ABP_LOG=debug',
  'litellm_settings.json_logs': 'the default',
  'litellm_settings.callbacks': 'GET /v1/receipts/stream, or AbpClient({ onReceipt })',
  'litellm_settings.success_callback': 'GET /v1/receipts/stream, or AbpClient({ onReceipt })',
  'litellm_settings.failure_callback': 'GET /v1/receipts/stream, or AbpClient({ onReceipt })',
  'litellm_settings.max_budget': 'budgets are for a key, user, team, tag, agent or engine: abp budgets create',
  'litellm_settings.budget_duration': 'budgets are for a key, user, team, tag, agent or engine: abp budgets create',
  'general_settings.master_key': 'keys are made here: abp keys create NAME --admin. auth.local is off, as every caller needed a key',
  'general_settings.database_url': 'LiteLLM’s tables are not taken over; set ABP_DATABASE_URL to an empty PostgreSQL database',
  'general_settings.store_model_in_db': 'engines and routes stand in abp.toml',
  'general_settings.alerting': '[[webhooks]] with events such as budget.* and engine.down',
};

/** Takes over what the sections say, and remarks on the rest of them. */
export function takeSettings(draft: Draft, config: LitellmConfig): Settings {
  const router = objectIn(config.router_settings) ?? {};
  const general = objectIn(config.general_settings) ?? {};
  const settings = objectIn(config.litellm_settings) ?? {};
  if (general.master_key !== undefined) draft.auth.local = false;
  takeConcurrency(draft, general);
  sayShadowed(draft, config);
  takeProviderBudgets(draft, router.provider_budget_config);
  for (const [section, values] of Object.entries({
    router_settings: router,
    litellm_settings: settings,
    general_settings: general,
  }))
    for (const name of Object.keys(values)) sayOf(draft, `${section}.${name}`);
  for (const name of Object.keys(config.environment_variables ?? {}))
    draft.remark(`environment_variables.${name}`, 'set it where the server is started');
  for (const name of Object.keys(config).filter((one) => !SECTIONS.has(one))) draft.remark(name, 'no counterpart');
  const { litellm_settings: library, router_settings: routing } = config;
  const lists = [...(routing?.fallbacks ?? []), ...(library?.fallbacks ?? [])];
  const named = (list: Readonly<Record<string, readonly unknown[]>>[], name: string): string[] =>
    list.flatMap((one) => one[name] ?? []).map((other) => (typeof other === 'string' ? other : String(objectIn(other)?.model)));
  const standIns = [...named(lists, ANY_MODEL), ...(library?.default_fallbacks ?? routing?.default_fallbacks ?? [])];
  const retries = routing?.num_retries ?? library?.num_retries ?? 0;
  return {
    attempts: Math.min(MOST_ATTEMPTS, 1 + Math.max(0, Math.floor(retries))),
    aliases: aliasesOf(router.model_group_alias),
    cache: cacheOf(draft, settings),
    fallbackNames: lists.flatMap((one) => Object.keys(one)).filter((name) => name !== ANY_MODEL),
    fallbacksOf: (name) => {
      const own = named(lists, name);
      return own.length > 0 ? own : standIns.filter((other) => other !== name);
    },
  };
}

const SECTIONS = new Set([
  'model_list',
  'router_settings',
  'litellm_settings',
  'general_settings',
  'environment_variables',
  'credential_list',
]);

/** How many calls all callers may have at a time. */
function takeConcurrency(draft: Draft, { max_parallel_requests: each, global_max_parallel_requests: all }: JsonObject): void {
  const [most] = [all, each].filter((one): one is number => typeof one === 'number' && one > 0);
  if (most !== undefined) draft.limits.concurrency = most;
  for (const [name, value] of Object.entries({ global_max_parallel_requests: all, max_parallel_requests: each }))
    if (value !== undefined && value !== null && value !== most)
      draft.remark(`general_settings.${name}`, most === undefined ? 'no limit' : `passed over: all callers have ${most} calls at a time`);
}

/** LiteLLM's own values where a file says only one of the two. */
const COOLDOWN = { allowed_fails: 3, cooldown_time: 5 };

/** Terms for every engine that has none of its own. */
export interface EngineTerms {
  readonly timeoutS: number | undefined;
  readonly breaker: Upstream['breaker'];
}

export function engineTerms(draft: Draft, { router_settings: router, litellm_settings: library }: LitellmConfig): EngineTerms {
  const { allowed_fails: fails, cooldown_time: rest, timeout } = router ?? {};
  const seconds = timeout ?? library?.request_timeout ?? undefined;
  const isSaid = typeof fails === 'number' || typeof rest === 'number';
  if (isSaid)
    draft.note('router_settings.allowed_fails', 'counted in a minute there, in a row here: breaker = { failures, open_s } of the engines');
  const [failures, open] = [Math.max(0, Math.floor(fails ?? COOLDOWN.allowed_fails)) + 1, rest ?? COOLDOWN.cooldown_time];
  return { timeoutS: seconds, breaker: isSaid && open > 0 ? { failures, open_s: open } : undefined };
}

function sayOf(draft: Draft, place: string): void {
  if (!TAKEN.has(place)) draft.remark(place, WORDS[place] ?? 'no counterpart');
}

/** LiteLLM keeps answers for so long where nothing is said. */
const CACHE_S = 60;
/** Where LiteLLM keeps answers by their exact request, as is done here. */
const EXACT_CACHES: readonly (Json | undefined)[] = [undefined, 'local', 'redis', 's3', 'gcs', 'azure-blob', 'disk'];

/** The cache of every route, where LiteLLM's has a counterpart. */
function cacheOf(draft: Draft, { cache, cache_params: given }: JsonObject): DraftRoute['cache'] {
  const { type, ttl, mode, ...rest } = objectIn(given) ?? {};
  if (cache !== true) {
    if (given !== undefined) draft.remark('litellm_settings.cache_params', 'litellm_settings.cache is off');
    return undefined;
  }
  if (!EXACT_CACHES.includes(type) || mode === 'default_off') {
    const why =
      mode === 'default_off'
        ? 'callers of LiteLLM asked for it call by call; here a route or a key has a cache'
        : `${String(type)}: only equal requests get the same answer here`;
    draft.remark('litellm_settings.cache_params', `${why}. Answers are not cached`);
    return undefined;
  }
  if (type !== undefined && type !== 'local') draft.remark('litellm_settings.cache_params.type', 'each node keeps answers in its own home');
  for (const name of Object.keys(rest)) draft.remark(`litellm_settings.cache_params.${name}`, 'no counterpart');
  return { ttl_s: typeof ttl === 'number' && ttl > 0 ? ttl : CACHE_S, shared: true };
}

/** An alias is a name, or a table with one. */
function aliasesOf(value: Json | undefined): Record<string, string> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).map(([alias, target]) => [alias, typeof target === 'string' ? target : String(objectIn(target)?.model)]),
  );
}

function takeProviderBudgets(draft: Draft, value: Json | undefined): void {
  for (const [provider, terms] of Object.entries(objectIn(value) ?? {})) takeProviderBudget(draft, provider, objectIn(terms) ?? {});
}

function takeProviderBudget(draft: Draft, provider: string, { budget_limit: dollars, time_period: duration }: JsonObject): void {
  const place = `router_settings.provider_budget_config.${provider}`;
  const period = periodOf(typeof duration === 'string' ? duration : undefined);
  const engines = draft.enginesLike(LITELLM_PROVIDERS[provider] ?? '');
  if (engines.length === 0 || typeof dollars !== 'number' || period === undefined) {
    const isGone = engines.length === 0;
    draft.remark(
      place,
      isGone ? 'no engine of this provider is left' : 'periods here are hour, day, week, month and total; the budget is left out',
    );
    return;
  }
  if (engines.length > 1) draft.note(place, `each of ${engines.join(', ')} gets the whole budget`);
  for (const engine of engines) draft.budgets.push({ on: { engine }, period, limit_nano_usd: Math.max(1, Math.round(dollars * 1e9)) });
}
