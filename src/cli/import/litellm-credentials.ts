import type { Draft } from './draft.ts';
import type { LitellmConfig } from './litellm-config.ts';
import { CREDENTIAL } from './litellm-known.ts';

/** The configuration with the credentials that its models name, each in its place. What a model says itself holds. */
export function withCredentials(draft: Draft, config: LitellmConfig): LitellmConfig {
  const list = config.credential_list ?? [];
  const named = config.model_list.map(({ litellm_params: { litellm_credential_name: name } }) => name);
  for (const [at, { credential_name: name }] of list.entries())
    if (!named.includes(name)) draft.remark(`credential_list[${at}]`, `no model names the credential ${name}`);
  const models = config.model_list.map((deployment, at) => {
    const { litellm_credential_name: name, ...own } = deployment.litellm_params;
    if (name === undefined || name === null) return deployment;
    const values = list.find((one) => one.credential_name === name)?.credential_values;
    if (values === undefined) draft.remark(`model_list[${at}].litellm_params.litellm_credential_name`, `there is no credential ${name}`);
    const taken = Object.entries(values ?? {}).filter(([member]) => CREDENTIAL.some((one) => one === member));
    return { ...deployment, litellm_params: { ...Object.fromEntries(taken), ...own } };
  });
  return { ...config, model_list: models };
}
