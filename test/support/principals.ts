import type { Scopes } from '../../src/calls/scopes.ts';
import { knownKey } from '../../src/gateway/auth/key-ring.ts';
import type { Principal } from '../../src/gateway/auth/principal.ts';
import type { Key } from '../../src/store/keys.ts';

/** Somebody with a key of these scopes. */
export function keyOf(scopes: Scopes, id = 'key_1'): Principal {
  const key: Key = {
    id,
    kind: 'user',
    name: 'test',
    hash: '',
    prefix: 'abp_test',
    scopes: {},
    recording: null,
    tags: [],
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
    rotatedAt: null,
    lastUsedAt: null,
    signIn: null,
    runId: null,
  };
  return { kind: 'key', ...knownKey(key, scopes) };
}
