import { isJsonObject, type Json, type JsonObject, listIn, nearestDouble, objectIn } from '../base/json.ts';
import type { TokenChance, TokenLogprob } from '../ir/logprob.ts';

/** Logprobs as Chat and Responses both write them; undefined for none. An entry that is not one is left out. */
export function liftLogprobs(list: unknown): readonly TokenLogprob[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return listIn(list).flatMap((entry) => liftToken(entry));
}

function liftToken(entry: Json): TokenLogprob[] {
  const top = listIn(objectIn(entry)?.top_logprobs);
  return liftChance(entry).map((chance) => ({ ...chance, top: top.flatMap(liftChance) }));
}

function liftChance(entry: Json): TokenChance[] {
  if (!isJsonObject(entry)) return [];
  const { token, bytes } = entry;
  const logprob = nearestDouble(entry.logprob);
  if (typeof token !== 'string' || logprob === undefined) return [];
  return [{ token, logprob, ...(Array.isArray(bytes) ? { bytes: bytes as readonly number[] } : {}) }]; // the vendor writes numbers
}

/** The same for a caller. Where the engine told no bytes they are those of the token's text, which a cut character does not have. */
export function lowerLogprobs(list: readonly TokenLogprob[]): JsonObject[] {
  return list.map((one) => ({ ...lowerChance(one), top_logprobs: one.top.map(lowerChance) }));
}

const CUT_CHARACTER = '\ufffd';

function lowerChance({ token, logprob, bytes }: TokenChance): JsonObject {
  return { token, logprob, bytes: bytes ?? (token.includes(CUT_CHARACTER) ? [] : [...Buffer.from(token, 'utf8')]) };
}
