import { isJsonObject, type Json, type JsonObject, nearestDouble } from '../../../base/json.ts';
import type { TokenChance, TokenLogprob } from '../../../ir/logprob.ts';
import { compact } from '../../members.ts';

/** `logprobsResult` of a candidate; undefined where it tells of no token. Proto JSON leaves out what is zero or empty. */
export function liftLogprobs(result: Json | undefined): readonly TokenLogprob[] | undefined {
  if (!isJsonObject(result)) return undefined;
  const top = listOf(result.topCandidates);
  const chosen = listOf(result.chosenCandidates).map((one, at) => ({
    ...liftChance(one),
    top: listOf(top[at]?.candidates).map(liftChance),
  }));
  return chosen.length === 0 ? undefined : chosen;
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one: Json) => isJsonObject(one)) : [];
}

function liftChance({ token, logProbability, tokenId }: JsonObject): TokenChance {
  return {
    token: typeof token === 'string' ? token : '',
    logprob: nearestDouble(logProbability) ?? 0,
    ...(typeof tokenId === 'number' ? { id: tokenId } : {}),
  };
}

export function lowerLogprobs(list: readonly TokenLogprob[]): JsonObject {
  const top = list.some((one) => one.top.length > 0) ? list.map((one) => ({ candidates: one.top.map(lowerChance) })) : undefined;
  return compact({ topCandidates: top, chosenCandidates: list.map(lowerChance) });
}

/** Another vendor's tokens have no number in this one's vocabulary. */
function lowerChance({ token, logprob, id }: TokenChance): JsonObject {
  return compact({ token, tokenId: id, logProbability: logprob });
}
