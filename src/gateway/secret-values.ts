import type { Config } from './config.ts';

/** Every secret of this installation: keys of engines, of search and of tools, the password of the database, the token of the home. */
export function secretValues(config: Config, token: string): string[] {
  const engines = Object.values(config.engines).flatMap(({ key, headers = {} }) => [key, ...Object.values(headers).filter(isSecret)]);
  const tools = Object.values(config.secrets).map(({ key }) => key);
  const password = URL.parse(config.database.url ?? '')?.password;
  const given = [...engines, ...tools, config.tools.search_key, password === undefined ? undefined : plain(password), token];
  return [...new Set(given.filter((value) => value !== undefined && value !== ''))] as string[]; // the filter leaves no undefined
}

/** Shorter values of headers are words such as `beta`, which stand in harmless places too. */
function isSecret(value: string): boolean {
  return value.length >= 16;
}

function plain(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    // It is no escape then, and stands in the address as it is.
    return password;
  }
}
