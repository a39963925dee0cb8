import type { Deployment } from './deployment.ts';
import { headerOf } from './headers.ts';

/** Origin and path of a call that passes through: those of the engine, or of the address that takes the caller's kind of login. */
export function upstreamAddress(
  deployment: Deployment,
  raw: readonly string[],
  path: string,
): { readonly origin: string; readonly path: string } {
  const { login, origin, basePath } = deployment;
  if (login === undefined || deployment.auth !== 'caller' || headerOf(raw, login.header) === undefined) {
    return { origin, path: `${basePath}${path}` };
  }
  const bare = path.startsWith(`${login.without}/`) ? path.slice(login.without.length) : path;
  return { origin: login.origin, path: `${login.basePath}${bare}` };
}
