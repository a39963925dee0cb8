import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { sha256 } from '../../base/canonical-json.ts';
import { derivedKey, openBox, sealBox } from '../../home/sealed-box.ts';
import { addSetting, getSetting, setSetting } from '../../store/settings.ts';
import type { Store } from '../../store/store.ts';

const CONTEXT = 'key of push notes';
/** Push services take a token for a day at most. */
const TOKEN_HOURS = 12;
const SAME_TOKEN_MS = 3_600_000;

/** The key by which push services know this server (VAPID, RFC 8292). Browsers take notes that are signed with it, and no others. */
export interface PushKey {
  /** The point of the public key, as browsers take it when they subscribe. */
  readonly publicKey: string;
  /** The header that proves to a push service who sends. */
  authorization(endpoint: URL, contact: string | undefined): Promise<string>;
}

/**
 * Opens the key, or makes it. It lies in the database, so that all nodes have the same one, sealed under the secret of the home that rows
 * of keys are authenticated with: the database alone gives nobody the key. Homes with secrets of their own have keys of their own.
 */
export async function openPushKey(store: Store): Promise<PushKey> {
  const box = derivedKey(store.keySecret.value, CONTEXT);
  const name = `push_key/${sha256(derivedKey(store.keySecret.value, `id of the ${CONTEXT}`)).slice(0, 16)}`;
  await addSetting(store, name, sealed(box, newKey()));
  const found = opened(box, await getSetting(store, name));
  if (found !== undefined) return pushKeyOf(found);
  // Damaged. Browsers that were told with the old one subscribe again when their page is opened next.
  const fresh = newKey();
  await setSetting(store, name, sealed(box, fresh));
  return pushKeyOf(fresh);
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

function sealed(box: Buffer, key: KeyObject): string {
  return sealBox(box, key.export({ type: 'pkcs8', format: 'der' }), CONTEXT).toString('base64');
}

function opened(box: Buffer, value: unknown): KeyObject | undefined {
  const der = typeof value === 'string' ? openBox(box, Buffer.from(value, 'base64'), CONTEXT) : undefined;
  return der === undefined ? undefined : createPrivateKey({ key: der, type: 'pkcs8', format: 'der' });
}

function pushKeyOf(key: KeyObject): PushKey {
  const { x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  const publicKey = point.toString('base64url');
  const tokens = new Map<string, { readonly token: string; readonly madeAt: number }>();
  const tokenFor = async (audience: string, contact: string | undefined): Promise<string> => {
    const known = tokens.get(audience);
    if (known !== undefined && Date.now() - known.madeAt < SAME_TOKEN_MS) return known.token;
    const { SignJWT } = await import('jose');
    const claims = new SignJWT(contact === undefined ? {} : { sub: contact }).setProtectedHeader({ typ: 'JWT', alg: 'ES256' });
    const token = await claims.setAudience(audience).setExpirationTime(`${TOKEN_HOURS}h`).sign(key);
    tokens.set(audience, { token, madeAt: Date.now() });
    return token;
  };
  return {
    publicKey,
    authorization: async ({ origin }, contact) => `vapid t=${await tokenFor(origin, contact)}, k=${publicKey}`,
  };
}
