import { isJsonObject, parseJsonObject } from '../base/json.ts';
import type { VendorMeta } from './part.ts';

const PREFIX = 'abp1.';

/**
 * Packs what another engine must get back (a thought signature, encrypted reasoning) into the opaque slot of the caller's dialect.
 * The caller returns it with the history, as it does with its own vendor's signatures, and `unpackMeta` restores it.
 */
export function packMeta(meta: VendorMeta): string {
  return `${PREFIX}${Buffer.from(JSON.stringify(meta), 'utf8').toString('base64url')}`;
}

/** Unpacks what `packMeta` packed; undefined for a slot that holds the vendor's own bytes. */
export function unpackMeta(text: string): VendorMeta | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const value = parseJsonObject(Buffer.from(text.slice(PREFIX.length), 'base64url').toString('utf8'));
  if (value === undefined || !Object.values(value).every(isJsonObject)) return undefined;
  return value as VendorMeta; // every member was just checked to be an object
}

/** The part of `meta` that belongs to other dialects and is worth carrying. */
export function foreignMeta(meta: VendorMeta | undefined, own: string): VendorMeta | undefined {
  const foreign = Object.entries(meta ?? {}).filter(([dialect]) => dialect !== own && dialect !== 'abp' && dialect !== 'signature');
  return foreign.length === 0 ? undefined : Object.fromEntries(foreign);
}
