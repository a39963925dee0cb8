import type { IncomingHttpHeaders } from 'node:http';
import { bareCredential } from '../../calls/headers.ts';
import { AbpError } from '../../contract/errors.ts';
import type { KeyRing, KnownKey } from './key-ring.ts';

/** Who calls. `local` is anyone on this machine without a key of ours; `token` holds the home's token. */
export type Principal =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'local' }
  | { readonly kind: 'token' }
  | ({ readonly kind: 'key' } & KnownKey);

const KEY_PREFIX = 'abp_';

export function isOurSecret(secret: string): boolean {
  return secret.startsWith(KEY_PREFIX);
}

/** What a request shows. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** Key in the path, `/k/{key}/…`: always meant for us. */
  readonly pathKey?: string | undefined;
  /** Key in the query, `?key=`, where some SDKs put it. */
  readonly queryKey?: string | undefined;
  /** The peer is on this machine and `local` is open. */
  readonly localOpen: boolean;
}

/** Every place an SDK puts a credential; `X-ABP-Key` speaks first, then the path. A secret elsewhere that is not ours is the caller's own and names nobody here. */
export async function authenticate(keys: KeyRing, credentials: Credentials): Promise<Principal> {
  const { headers, pathKey, queryKey, localOpen } = credentials;
  const explicit = single(headers['x-abp-key']) ?? pathKey;
  if (explicit !== undefined) return await named(keys, explicit);
  const authorization = single(headers.authorization);
  const bearer = authorization === undefined ? undefined : bareCredential(authorization);
  for (const secret of [queryKey, bearer, single(headers['x-api-key']), single(headers['x-goog-api-key']), single(headers['api-key'])]) {
    if (secret !== undefined && isOurSecret(secret)) return await named(keys, secret);
  }
  if (bearer !== undefined && keys.isToken(bearer)) return { kind: 'token' };
  return { kind: localOpen ? 'local' : 'anonymous' };
}

async function named(keys: KeyRing, secret: string): Promise<Principal> {
  if (!isOurSecret(secret) && keys.isToken(secret)) return { kind: 'token' };
  const known = isOurSecret(secret) ? await keys.find(secret) : undefined;
  if (known === undefined) throw new AbpError('unauthenticated', 'The key is not valid: unknown, expired or revoked.');
  return { kind: 'key', ...known };
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** The id that receipts carry; null for callers without a key. */
export function keyIdOf(principal: Principal): string | null {
  return principal.kind === 'key' ? principal.key.id : null;
}
