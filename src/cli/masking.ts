import { isJsonObject, type Json } from '../base/json.ts';

const SECRET_NAME = /(^|_|-)(key|token|secret|password|passphrase|credential)s?$/i;
const MASK = '••••';

/** The value with everything secret replaced: members named like secrets, and passwords inside addresses. */
export function maskSecrets(value: Json, name = ''): Json {
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, maskSecrets(member, key)]));
  if (Array.isArray(value)) return value.map((item: Json) => maskSecrets(item, name));
  if (typeof value !== 'string' || value === '') return value;
  return SECRET_NAME.test(name) ? MASK : maskAddress(value);
}

/** `postgres://user:secret@host/db` without its secret, also when it stands in the query. */
export function maskAddress(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@]*?):[^/?#]*@/i, `$1:${MASK}@`)
    .replace(/([?&](?:password|sslpassword|token|key|api_key)=)[^&#]*/gi, `$1${MASK}`);
}
