import { AbpError } from '../contract/errors.ts';
import type { Engine } from '../engines/engine.ts';
import type { Credential } from './admission.ts';
import type { Deployment } from './deployment.ts';

/** The error for an engine whose address or key nobody has set; it names the variable to set. A caller's own key goes to its issuer only, unchanged. */
export function missingAccess(
  engine: Engine,
  access: Pick<Deployment, 'origin' | 'auth' | 'key'>,
  credential: Credential,
): AbpError | undefined {
  if (access.origin === '' && engine.transport === undefined) return missing(engine, 'address', variableOf(engine, 'URL'));
  if (access.auth === 'none' || access.key !== undefined) return undefined;
  if (access.auth === 'caller' && credential === 'either') return undefined;
  return missing(engine, 'key', engine.auth?.env[0] ?? variableOf(engine, 'KEY'));
}

function variableOf(engine: Engine, what: 'KEY' | 'URL'): string {
  return `ABP_ENGINE_${engine.id.toUpperCase().replaceAll('-', '_')}_${what}`;
}

function missing(engine: Engine, what: string, variable: string): AbpError {
  return new AbpError('E007', `${engine.name} has no ${what}: set ${variable}`, {
    backend_id: `engine:${engine.id}`,
    reason: `${variable} is not set`,
    variable,
  });
}
