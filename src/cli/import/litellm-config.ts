import { z } from 'zod';

const text = z.string();
const number = z.coerce.number();

export const Parameters = z.looseObject({
  model: text,
  api_base: text.nullish(),
  base_url: text.nullish(),
  api_key: text.nullish(),
  timeout: number.nullish(),
  rpm: number.nullish(),
  tpm: number.nullish(),
  max_parallel_requests: number.nullish(),
  weight: number.nullish(),
  organization: text.nullish(),
  litellm_credential_name: text.nullish(),
  extra_headers: z.record(z.string(), z.string()).nullish(),
  input_cost_per_token: number.nullish(),
  output_cost_per_token: number.nullish(),
  max_budget: number.nullish(),
  budget_duration: text.nullish(),
});
export type Parameters = z.infer<typeof Parameters>;

const Info = z.looseObject({
  mode: text.nullish(),
  max_input_tokens: number.nullish(),
  max_output_tokens: number.nullish(),
  max_tokens: number.nullish(),
  input_cost_per_token: number.nullish(),
  output_cost_per_token: number.nullish(),
});

const Deployment = z.looseObject({
  model_name: text,
  litellm_params: Parameters,
  model_info: Info.nullish(),
  rpm: number.nullish(),
  tpm: number.nullish(),
});
export type Deployment = z.infer<typeof Deployment>;

const fallbacks = z.array(z.record(z.string(), z.array(z.unknown()))).nullish();
const section = z
  .looseObject({
    fallbacks,
    num_retries: number.nullish(),
    default_fallbacks: z.array(text).nullish(),
    timeout: number.nullish(),
    request_timeout: number.nullish(),
    allowed_fails: number.nullish(),
    cooldown_time: number.nullish(),
  })
  .nullish();

const Credential = z.looseObject({ credential_name: text, credential_values: z.looseObject({}).nullish() });

export const LitellmConfig = z.looseObject({
  model_list: z.array(Deployment).default([]),
  router_settings: section,
  litellm_settings: section,
  general_settings: z.looseObject({}).nullish(),
  environment_variables: z.record(z.string(), z.unknown()).nullish(),
  credential_list: z.array(Credential).nullish(),
});
export type LitellmConfig = z.infer<typeof LitellmConfig>;

/** `os.environ/NAME` reads a variable. */
export function variableIn(value: string): string | undefined {
  return /^os\.environ\/(\w+)$/.exec(value)?.[1];
}

const DURATIONS: Readonly<Record<string, string>> = {
  '1h': 'hour',
  '24h': 'day',
  '1d': 'day',
  '7d': 'week',
  '1w': 'week',
  '30d': 'month',
  '1mo': 'month',
};

/** The period of ours that a duration is; undefined for others. */
export function periodOf(duration: string | null | undefined): string | undefined {
  return duration === undefined || duration === null ? 'total' : DURATIONS[duration];
}
