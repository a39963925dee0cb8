import type { Draft } from './draft.ts';
import { memberOf } from './leaves.ts';
import { type Deployment, type LitellmConfig, Parameters } from './litellm-config.ts';

const DEPLOYMENT = [
  'model_name',
  'rpm',
  'tpm',
  ...Object.keys(Parameters.shape).map((name) => `litellm_params.${name}`),
  'litellm_params.extra_headers.*',
  ...['mode', 'max_input_tokens', 'max_output_tokens', 'max_tokens', 'input_cost_per_token', 'output_cost_per_token'].map(
    (name) => `model_info.${name}`,
  ),
];

const FALLBACKS = ['fallbacks.[].*.[]', 'fallbacks.[].*.[].model', 'num_retries', 'default_fallbacks.[]'];

/** Members of a deployment that a credential of the list can give. */
export const CREDENTIAL = ['api_key', 'api_base', 'base_url', 'api_version', 'organization'] as const;

/** The values of a file that are translated, or that the translator speaks of where it takes them otherwise. */
export const KNOWN: readonly string[] = [
  ...DEPLOYMENT.map((path) => `model_list.[].${path}`),
  ...['router_settings', 'litellm_settings'].flatMap((section) => FALLBACKS.map((path) => `${section}.${path}`)),
  'router_settings.model_group_alias.*',
  'router_settings.model_group_alias.*.model',
  'router_settings.provider_budget_config.*.budget_limit',
  'router_settings.provider_budget_config.*.time_period',
  'router_settings.timeout',
  'router_settings.allowed_fails',
  'router_settings.cooldown_time',
  'litellm_settings.request_timeout',
  'litellm_settings.cache',
  'litellm_settings.cache_params.type',
  'litellm_settings.cache_params.ttl',
  'litellm_settings.cache_params.mode',
  'general_settings.max_parallel_requests',
  'general_settings.global_max_parallel_requests',
  'credential_list.[].credential_name',
  ...CREDENTIAL.map((name) => `credential_list.[].credential_values.${name}`),
];

/** Pairs of which the first, where it is there, holds instead of the second. */
const INSTEAD: readonly (readonly [holds: string, passedOver: string])[] = [
  ['litellm_params.api_base', 'litellm_params.base_url'],
  ['litellm_params.rpm', 'rpm'],
  ['litellm_params.tpm', 'tpm'],
  ['litellm_params.input_cost_per_token', 'model_info.input_cost_per_token'],
  ['litellm_params.output_cost_per_token', 'model_info.output_cost_per_token'],
  ['model_info.max_output_tokens', 'model_info.max_tokens'],
];

const at = (value: unknown, path: string): unknown => path.split('.').reduce(memberOf, value);

/** Values that mean something only beside others. */
export function sayIdle(draft: Draft, deployment: Deployment, where: string): void {
  const has = (path: string): boolean => at(deployment, path) !== undefined;
  const say = (path: string, what: string): void => draft.remark(`${where}.${path}`, what);
  for (const [holds, passedOver] of INSTEAD) if (has(holds) && has(passedOver)) say(passedOver, `passed over: ${holds} is there`);
  if (has('litellm_params.budget_duration') && !has('litellm_params.max_budget'))
    say('litellm_params.budget_duration', 'no budget: max_budget is missing');
  const costs = ['input_cost_per_token', 'output_cost_per_token'].map((name) =>
    ['litellm_params', 'model_info'].map((section) => `${section}.${name}`).filter(has),
  );
  if (costs.some((one) => one.length === 0))
    for (const path of costs.flat()) say(path, 'no price: prices here are of what goes in and of what comes out, and one is missing');
}

/** Of two sections that may say the same, the first that does holds. */
export function sayShadowed(draft: Draft, { router_settings: router, litellm_settings: library }: LitellmConfig): void {
  if (given(router?.num_retries) && given(library?.num_retries))
    draft.remark('litellm_settings.num_retries', 'passed over: router_settings.num_retries is there');
  if (given(router?.default_fallbacks) && given(library?.default_fallbacks))
    draft.remark('router_settings.default_fallbacks', 'passed over: litellm_settings.default_fallbacks is there');
  if (given(router?.timeout) && given(library?.request_timeout))
    draft.remark('litellm_settings.request_timeout', 'passed over: router_settings.timeout is there');
}

const given = (value: unknown): boolean => value !== undefined && value !== null;
