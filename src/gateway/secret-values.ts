import { isSecretName } from '../base/redact.ts';
import type { Config } from './config.ts';
import type { EngineConfig } from './engine-config.ts';

/**
 * Every secret of this installation: keys of engines, of search, of tools and of sidecars, passwords in addresses, paths and signing keys
 * of webhooks, the token of the home.
 */
export function secretValues(config: Config, token: string): string[] {
  const places = Object.values(config.engines).flatMap((engine) => [engine, ...(engine.deployments ?? [])]);
  const engines = places.flatMap(sentSecrets);
  const tools = Object.values(config.secrets).map(({ key }) => key);
  const sidecars = Object.values(config.sidecars).flatMap(({ env }) =>
    Object.entries(env).flatMap(([name, value]) => (isSecretName(name) ? [value] : [])),
  );
  const hooks = [config.receipts.head_webhook, ...config.webhooks.map(({ url }) => url)];
  const signing = config.webhooks.map(({ secret }) => secret);
  const passwords = [config.database.url, config.tools.search_url, ...hooks].map(passwordOf);
  const given = [
    ...engines,
    ...tools,
    ...sidecars,
    config.tools.search_key,
    config.oidc?.client_secret,
    config.receipts.key_secret,
    config.recording.store?.secret_key,
    ...passwords,
    ...hooks.map(hookOf),
    ...signing,
    token,
  ];
  return [...new Set(given.filter((value) => value !== undefined && value !== ''))] as string[]; // the filter leaves no undefined
}

/** Secrets that one deployment of an engine is sent. */
export function sentSecrets({ key, headers = {}, url }: Pick<EngineConfig, 'key' | 'headers' | 'url'>): string[] {
  const sent = [key, ...Object.values(headers).filter(isSecret), passwordOf(url)];
  return sent.filter((value) => value !== undefined && value !== '') as string[]; // the filter leaves no undefined
}

/** Shorter values of headers are words such as `beta`, which stand in harmless places too. */
function isSecret(value: string): boolean {
  return value.length >= 16;
}

function passwordOf(address: string | undefined): string | undefined {
  const password = URL.parse(address ?? '')?.password;
  return password === undefined ? undefined : plain(password);
}

/** The path of a webhook is its secret: somebody who knows it can write there. */
function hookOf(address: string | undefined): string | undefined {
  const hook = URL.parse(address ?? '');
  const path = hook === null ? '' : `${hook.pathname}${hook.search}`;
  return isSecret(path) ? path : undefined;
}

function plain(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    // It is no escape then, and stands in the address as it is.
    return password;
  }
}
