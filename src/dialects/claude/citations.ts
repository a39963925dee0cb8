import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Citation } from '../../ir/part.ts';

const KIND = 'web_search_result_location';

/** The pages that a block's citations name. They belong to the whole block; places in documents have no address and stay with Claude. */
export function liftCitations(list: unknown, length: number): { citations?: readonly Citation[] } {
  if (!Array.isArray(list)) return {};
  const citations = list.flatMap((one: Json): Citation[] => {
    if (!isJsonObject(one) || one.type !== KIND || typeof one.url !== 'string') return [];
    const { url, title, cited_text: quote } = one;
    return [
      { url, ...(typeof title === 'string' ? { title } : {}), ...(typeof quote === 'string' ? { quote } : {}), start: 0, end: length },
    ];
  });
  return citations.length === 0 ? {} : { citations };
}

/** Pages of another engine's search. The index is Claude's own secret, so there is none. */
export function lowerCitations(citations: readonly Citation[]): JsonObject[] {
  return citations.map(({ url, title, quote }) => ({
    type: KIND,
    cited_text: quote ?? '',
    url,
    title: title ?? url,
    encrypted_index: '',
  }));
}
