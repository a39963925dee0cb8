import { isJsonObject, parseJson } from '../../base/json.ts';
import { derivedKey, openBox, sealBox } from '../../home/sealed-box.ts';
import type { Store } from '../../store/store.ts';

type Members = Readonly<Record<string, string | number>>;

/** Seals what somebody must bring back, so that nothing is kept here meanwhile and any node with the same secret can go on. */
export function sealPending({ keySecret }: Store, purpose: string, members: Members, expiresAt: number): string {
  const text = JSON.stringify({ ...members, expiresAt });
  return sealBox(derivedKey(keySecret.value, purpose), Buffer.from(text), purpose).toString('base64url');
}

/** Opens what this server gave a browser to keep; undefined when it is not ours, is for another purpose, or is too old. */
export function openPending({ keySecret }: Store, purpose: string, sealed: string): Readonly<Record<string, unknown>> | undefined {
  const plain = openBox(derivedKey(keySecret.value, purpose), Buffer.from(sealed, 'base64url'), purpose);
  const parsed = plain === undefined ? undefined : parseJson(plain.toString());
  if (parsed?.ok !== true || !isJsonObject(parsed.value)) return undefined;
  const { expiresAt } = parsed.value;
  return typeof expiresAt === 'number' && expiresAt > Date.now() ? parsed.value : undefined;
}
