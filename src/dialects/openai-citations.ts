import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Citation } from '../ir/part.ts';

const KIND = 'url_citation';

/** The pages that annotations name: flat in Responses, one level down in Chat. */
export function liftAnnotations(list: unknown, length: number): { citations?: readonly Citation[] } {
  if (!Array.isArray(list)) return {};
  const citations = list.flatMap((one: Json): Citation[] => {
    const told = isJsonObject(one) && one.type === KIND ? (isJsonObject(one[KIND]) ? one[KIND] : one) : undefined;
    if (typeof told?.url !== 'string') return [];
    const { url, title, start_index: start, end_index: end } = told;
    return [{ url, ...(typeof title === 'string' ? { title } : {}), start: placed(start, 0, length), end: placed(end, length, length) }];
  });
  return citations.length === 0 ? {} : { citations };
}

function placed(value: Json | undefined, otherwise: number, most: number): number {
  return typeof value === 'number' ? Math.max(0, Math.min(value, most)) : otherwise;
}

/** Members in which both wires of OpenAI tell of a page; `before` is how much text stands before the part. */
export function citationMembers({ url, title, start, end }: Citation, before = 0): JsonObject {
  return { start_index: before + start, end_index: before + end, title: title ?? url, url };
}
