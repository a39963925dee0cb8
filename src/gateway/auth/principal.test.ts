import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHome } from '../../home/home.ts';
import { openStore } from '../../store/database.ts';
import { createKey, revokeKey } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import { hashSecret, KeyRing } from './key-ring.ts';
import { authenticate, type Credentials, keyIdOf } from './principal.ts';

const TOKEN = 'the-token-of-the-home-0123456789abcdef';
const SECRET = 'abp_secret-of-a-live-key';
const folder = mkdtempSync(join(tmpdir(), 'abp-principal-'));
let store: Store;
let ring: KeyRing;
let id: string;

beforeAll(async () => {
  store = await openStore({ home: openHome({ path: join(folder, 'home') }) });
  ring = new KeyRing(store, TOKEN);
  ({ id } = await createKey(store, { kind: 'user', name: 'a', hash: hashSecret(SECRET), prefix: 'abp_secret', scopes: {}, createdAt: 1 }));
});

afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function who(shown: Partial<Credentials>): Promise<string> {
  try {
    const principal = await authenticate(ring, { headers: {}, localOpen: true, ...shown });
    return keyIdOf(principal) ?? principal.kind;
  } catch (error) {
    return (error as { code: string }).code; // it throws nothing but errors of the table
  }
}

describe('authenticate', () => {
  it('takes nobody for local while that is open, else for anonymous', async () => {
    expect(await who({})).toBe('local');
    expect(await who({ localOpen: false })).toBe('anonymous');
  });

  it.each<[string, Partial<Credentials>]>([
    ['X-ABP-Key', { headers: { 'x-abp-key': SECRET } }],
    ['Authorization', { headers: { authorization: `Bearer ${SECRET}` } }],
    ['Authorization in another case', { headers: { authorization: `bearer  ${SECRET}` } }],
    ['x-api-key', { headers: { 'x-api-key': SECRET } }],
    ['x-goog-api-key', { headers: { 'x-goog-api-key': SECRET } }],
    ['api-key', { headers: { 'api-key': SECRET } }],
    ['the path', { pathKey: SECRET }],
    ['the query', { queryKey: SECRET }],
  ])('finds our key in %s', async (_, shown) => {
    expect(await who(shown)).toBe(id);
  });

  it('leaves a credential that is not ours alone', async () => {
    expect(await who({ headers: { authorization: 'Bearer sk-ant-x' } })).toBe('local');
    expect(await who({ headers: { 'x-api-key': 'sk-ant-x' }, localOpen: false })).toBe('anonymous');
    expect(await who({ queryKey: 'AIza' })).toBe('local');
  });

  it('finds our key beside a foreign credential', async () => {
    expect(await who({ headers: { authorization: 'Bearer sk-ant-x', 'x-api-key': SECRET } })).toBe(id);
  });

  it.each<[string, Partial<Credentials>]>([
    ['an unknown key', { headers: { 'x-api-key': 'abp_unknown' } }],
    ['a foreign secret in X-ABP-Key', { headers: { 'x-abp-key': 'sk-ant-x' } }],
    ['a foreign secret in the path', { pathKey: 'garbage' }],
    ['an empty key in the path', { pathKey: '' }],
    ['a bad X-ABP-Key beside a good key', { headers: { 'x-abp-key': 'abp_unknown', 'x-api-key': SECRET } }],
  ])('refuses %s instead of falling back to local', async (_, shown) => {
    expect(await who(shown)).toBe('unauthenticated');
  });

  it('knows the token as a bearer and in X-ABP-Key', async () => {
    expect(await who({ headers: { authorization: `Bearer ${TOKEN}` } })).toBe('token');
    expect(await who({ headers: { 'x-abp-key': TOKEN } })).toBe('token');
    expect(await who({ headers: { authorization: `Bearer ${TOKEN}x` } })).toBe('local');
  });

  it('refuses expired and revoked keys', async () => {
    const key = { kind: 'user', name: 'b', prefix: 'abp_', scopes: {}, createdAt: 1 } as const;
    await createKey(store, { ...key, hash: hashSecret('abp_expired'), expiresAt: Date.now() - 1 });
    const revoked = await createKey(store, { ...key, hash: hashSecret('abp_revoked') });
    expect(await who({ headers: { 'x-abp-key': 'abp_expired' } })).toBe('unauthenticated');
    expect(await who({ headers: { 'x-abp-key': 'abp_revoked' } })).toBe(revoked.id);
    await revokeKey(store, revoked.id, Date.now());
    ring.forget();
    expect(await who({ headers: { 'x-abp-key': 'abp_revoked' } })).toBe('unauthenticated');
  });

  it('notices that a remembered key has expired', async () => {
    const expiresAt = Date.now() + 400;
    const hash = hashSecret('abp_short');
    const key = await createKey(store, { kind: 'user', name: 'c', prefix: 'abp_', scopes: {}, createdAt: 1, hash, expiresAt });
    expect(await who({ headers: { 'x-abp-key': 'abp_short' } })).toBe(key.id);
    await expect.poll(() => who({ headers: { 'x-abp-key': 'abp_short' } }), { timeout: 60_000 }).toBe('unauthenticated');
  });
});
