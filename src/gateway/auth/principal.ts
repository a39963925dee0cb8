import type { IncomingHttpHeaders } from 'node:http';
import { type CallOwner, shareOfOwner, UNKEYED as UNKEYED_SHARE } from '../../calls/call.ts';
import { bareCredential } from '../../calls/headers.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { KeyRing, KnownKey } from './key-ring.ts';

/** Who calls. `local` is anyone on this machine without a key of ours; `token` holds the home's token. */
export type Principal =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'local' }
  | { readonly kind: 'token' }
  /** A browser that may read, and answer what agents ask: everybody's, or what the keys of one user have to do with. */
  | { readonly kind: 'paired'; readonly session: string; readonly user?: PairedUser }
  | ({ readonly kind: 'key' } & KnownKey);

/** Says who a request comes from, as often as it is asked: a key or a sign-in may end while the request goes on. */
export type WhoCalls = () => Principal | Promise<Principal>;

/** The user that a browser was paired for, with the user's keys. */
export interface PairedUser {
  readonly id: string;
  readonly keys: readonly string[];
}

const KEY_PREFIX = 'abp_';

export function isOurSecret(secret: string): boolean {
  return secret.startsWith(KEY_PREFIX);
}

/** The credentials that a request shows. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** Key in the path, `/k/{key}/…`: always meant for us. */
  readonly pathKey?: string | undefined;
  /** Key in the query, `?key=`, where some SDKs put it. */
  readonly queryKey?: string | undefined;
  /** The peer is on this machine and `local` is open. */
  readonly localOpen: boolean;
}

/**
 * Every place an SDK puts a credential; `X-ABP-Key` speaks first, then the path. A secret elsewhere that is not ours is the caller's
 * own and names nobody here. Answers at once unless a key must be looked up.
 */
export function authenticate(keys: KeyRing, credentials: Credentials): Principal | Promise<Principal> {
  const { headers, pathKey, queryKey, localOpen } = credentials;
  const explicit = single(headers['x-abp-key']) ?? pathKey;
  if (explicit !== undefined) return named(keys, explicit);
  const bearer = headers.authorization === undefined ? undefined : bareCredential(headers.authorization);
  const ours =
    ourSecret(queryKey) ??
    ourSecret(bearer) ??
    ourSecret(headers['x-api-key']) ??
    ourSecret(headers['x-goog-api-key']) ??
    ourSecret(headers['api-key']);
  if (ours !== undefined) return named(keys, ours);
  if (bearer !== undefined && keys.isToken(bearer)) return TOKEN;
  return localOpen ? LOCAL : ANONYMOUS;
}

const TOKEN: Principal = { kind: 'token' };
const LOCAL: Principal = { kind: 'local' };
const ANONYMOUS: Principal = { kind: 'anonymous' };

function ourSecret(shown: string | string[] | undefined): string | undefined {
  const secret = single(shown);
  return secret !== undefined && isOurSecret(secret) ? secret : undefined;
}

function named(keys: KeyRing, secret: string): Principal | Promise<Principal> {
  if (!isOurSecret(secret)) return principalOf(undefined, keys.isToken(secret));
  const found = keys.find(secret);
  return found instanceof Promise ? found.then((known) => principalOf(known, false)) : principalOf(found, false);
}

function principalOf(known: KnownKey | undefined, isToken: boolean): Principal {
  if (isToken) return TOKEN;
  if (known === undefined) throw new AbpError('unauthenticated', 'The key is not valid: unknown, expired or revoked.');
  return { kind: 'key', ...known };
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** The run that a run key was made for: calls with it are made on that run's behalf. */
export function parentOf(principal: Principal): RunId | null {
  return principal.kind === 'key' ? principal.key.runId : null;
}

/** Whose share of this server's memory and connections a call takes. */
export function shareOf(principal: Principal): string {
  if (principal.kind === 'key') return shareOfOwner({ keyId: principal.key.id, scopes: principal.scopes });
  return principal.kind === 'token' ? 'token' : UNKEYED_SHARE;
}

/** The id that receipts carry; null for callers without a key. */
export function keyIdOf(principal: Principal): string | null {
  return principal.kind === 'key' ? principal.key.id : null;
}

const NO_TAGS: readonly string[] = [];
const UNKEYED: CallOwner = { keyId: null, parent: null, tags: NO_TAGS };

/** The caller as one on whose behalf engines are called. */
export function ownerOf(principal: Principal): CallOwner {
  if (principal.kind !== 'key') return UNKEYED;
  const { key, scopes } = principal;
  return { keyId: key.id, keyPrefix: key.prefix, scopes, parent: key.runId, tags: key.tags };
}
