import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts';
import { foreignMeta, packMeta, unpackMeta } from '../../../ir/carrier.ts';
import type { ThinkingPart, VendorMeta } from '../../../ir/part.ts';
import type { ChatFlavour } from './flavour.ts';

/** Where several gateways and SDKs of the Chat family keep reasoning that must come back: a list beside the content. */
export const DETAILS = 'reasoning_details';
/** Says that an entry of the list is ours. */
const FORMAT = 'agent-backplane-v1';

/**
 * Reasoning of another engine as an entry that the caller sends back, with the state that its engine must get. Without any state it
 * stands here only where the wire has no other member for reasoning.
 */
export function detailOf(flavour: ChatFlavour, { text, redacted, meta }: Pick<ThinkingPart, 'text' | 'redacted' | 'meta'>): JsonObject[] {
  if (!flavour.details) return [];
  const foreign = foreignMeta(meta, flavour.id);
  if (foreign === undefined)
    return flavour.reasoningField === undefined && text !== '' ? [{ type: 'reasoning.text', text, format: FORMAT }] : [];
  const state = packMeta(foreign);
  return [
    redacted === true
      ? { type: 'reasoning.encrypted', data: state, format: FORMAT }
      : { type: 'reasoning.text', text, signature: state, format: FORMAT },
  ];
}

/** The reasoning in such a list; undefined where the list is the vendor's own. */
export function detailParts(list: Json | undefined, at: string): ThinkingPart[] | undefined {
  const entries = Array.isArray(list) ? (list as readonly Json[]) : []; // Array.isArray widens
  const parts = entries.flatMap((entry, index): ThinkingPart[] => {
    if (!isJsonObject(entry) || entry.format !== FORMAT) return [];
    const meta = unpackMeta(String(entry.signature ?? entry.data ?? ''));
    const place = at === '' ? {} : { at: `${at}[${index}]` };
    const redacted = entry.type === 'reasoning.encrypted';
    return [
      {
        kind: 'thinking',
        text: typeof entry.text === 'string' ? entry.text : '',
        ...(redacted ? { redacted } : {}),
        ...place,
        ...(meta === undefined ? {} : { meta }),
      },
    ];
  });
  return parts.length === 0 ? undefined : parts;
}

/** The readable words of such a list, where a server tells its reasoning nowhere else: MiniMax when asked to split it off, as of 2026-11. */
export function detailText(flavour: ChatFlavour, list: unknown): string {
  if (!flavour.state.includes(DETAILS) || !Array.isArray(list)) return '';
  const words = (list as readonly Json[]).map((entry) => (isJsonObject(entry) ? (entry.text ?? entry.summary) : undefined)); // parsed JSON
  return words.filter((one) => typeof one === 'string').join('');
}

/** State of another engine's call. Gemini's signature stands where Google's own Chat endpoint puts it. */
export function callExtra(flavour: ChatFlavour, meta: VendorMeta | undefined): JsonObject {
  const foreign = flavour.details ? foreignMeta(meta, flavour.id) : undefined;
  if (foreign === undefined) return {};
  const { thoughtSignature, ...others } = foreign.gemini ?? {};
  const plain = typeof thoughtSignature === 'string' && Object.keys(others).length === 0 && Object.keys(foreign).length === 1;
  return { extra_content: plain ? { google: { thought_signature: thoughtSignature } } : { abp: { state: packMeta(foreign) } } };
}

/** Reads the members that `callExtra` or Google's endpoint has written. */
export function extraMeta(extra: Json | undefined): VendorMeta | undefined {
  if (extra === undefined || !isJsonObject(extra)) return undefined;
  const { google, abp } = extra;
  if (isJsonObject(abp ?? null)) return unpackMeta(String((abp as JsonObject).state ?? '')); // checked
  const signature = isJsonObject(google ?? null) ? (google as JsonObject).thought_signature : undefined; // checked
  return typeof signature === 'string' ? { gemini: { thoughtSignature: signature } } : undefined;
}
