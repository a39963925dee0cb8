import { foreignMeta, packMeta, unpackMeta } from '../../ir/carrier.ts';
import type { VendorMeta } from '../../ir/part.ts';

/** How a signature of ours begins: `abp1.` in base64. */
const OURS = 'YWJwMS';

/** The state of another engine that we packed into a signature; undefined for Gemini's own. */
export function carriedBy(signature: string | undefined): { readonly meta: VendorMeta; readonly redacted: boolean } | undefined {
  if (!signature?.startsWith(OURS)) return undefined;
  const { abp, ...meta } = unpackMeta(Buffer.from(signature, 'base64').toString('utf8')) ?? {};
  return Object.keys(meta).length === 0 ? undefined : { meta, redacted: abp?.redacted === true };
}

/** The signature of a part we show to a caller: Gemini's own, or another engine's state packed to come back; never an invented one. */
export function signatureOf(meta: VendorMeta | undefined, redacted = false): string | undefined {
  const own = meta?.gemini?.thoughtSignature ?? meta?.signature?.value;
  if (typeof own === 'string') return own;
  const foreign = foreignMeta(meta, 'gemini');
  if (foreign === undefined) return undefined;
  return Buffer.from(packMeta(redacted ? { ...foreign, abp: { redacted: true } } : foreign), 'utf8').toString('base64');
}
