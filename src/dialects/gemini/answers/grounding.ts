import { isJsonObject, type Json, type JsonObject, listIn } from '../../../base/json.ts';
import type { Citation } from '../../../ir/part.ts';

/** A text of an answer with the pages it rests on. */
export interface Cited {
  readonly text: string;
  readonly citations?: readonly Citation[] | undefined;
}

/** The pages that grounding names. Places are told in UTF-8 bytes of the text; a page without a place stands for the whole of it. */
export function liftGrounding(grounding: Json | undefined, text: string): { citations?: readonly Citation[] } {
  const pages = listOf(isJsonObject(grounding) ? grounding.groundingChunks : undefined).map(pageOf);
  const supports = listOf(isJsonObject(grounding) ? grounding.groundingSupports : undefined).filter(isJsonObject);
  const bytes = Buffer.from(text, 'utf8');
  const placed = supports.flatMap((support) => supported(support, pages, bytes));
  const named = new Set(placed.map(({ url }) => url));
  // Where the other pages have places, one without stands at the end of the text.
  const start = placed.length > 0 ? text.length : 0;
  const others = pages.flatMap((page) => (page === undefined || named.has(page.url) ? [] : [{ ...page, start, end: text.length }]));
  const citations = [...placed, ...others];
  return citations.length === 0 ? {} : { citations };
}

/** The same without a text that they could stand in. */
export function groundedPages(grounding: Json | undefined): readonly Page[] {
  return listOf(isJsonObject(grounding) ? grounding.groundingChunks : undefined).flatMap((chunk) => pageOf(chunk) ?? []);
}

type Page = Pick<Citation, 'url' | 'title'>;

function pageOf(chunk: Json): Page | undefined {
  const source = isJsonObject(chunk) ? (chunk.web ?? chunk.maps) : undefined;
  const web = isJsonObject(source) ? source : undefined;
  if (typeof web?.uri !== 'string') return undefined;
  return { url: web.uri, ...(typeof web.title === 'string' ? { title: web.title } : {}) };
}

function supported(support: JsonObject, pages: readonly (Page | undefined)[], bytes: Buffer): Citation[] {
  const segment = isJsonObject(support.segment) ? support.segment : {};
  const units = (offset: Json | undefined, otherwise: number): number =>
    bytes.toString('utf8', 0, typeof offset === 'number' ? offset : otherwise).length;
  const place = { start: units(segment.startIndex, 0), end: units(segment.endIndex, bytes.length) };
  return listOf(support.groundingChunkIndices).flatMap((index) => {
    const page = typeof index === 'number' ? pages[index] : undefined;
    return page === undefined ? [] : [{ ...page, ...place }];
  });
}

function listOf(value: Json | undefined): readonly Json[] {
  return listIn(value);
}

/** The pages of another engine's search as grounding of the answer; nothing where there are none. */
export function lowerGrounding(texts: readonly Cited[]): { groundingMetadata?: JsonObject } {
  const pages = new Map<string, JsonObject>();
  const supports: JsonObject[] = [];
  let before = 0;
  for (const { text, citations = [] } of texts) {
    for (const { url, title, start, end } of citations) {
      const page = JSON.stringify([url, title]);
      if (!pages.has(page)) pages.set(page, { web: { uri: url, title: title ?? url } });
      const startIndex = before + Buffer.byteLength(text.slice(0, start));
      const endIndex = before + Buffer.byteLength(text.slice(0, end));
      const segment = { startIndex, endIndex, text: text.slice(start, end) };
      supports.push({ segment, groundingChunkIndices: [[...pages.keys()].indexOf(page)] });
    }
    before += Buffer.byteLength(text);
  }
  return supports.length === 0 ? {} : { groundingMetadata: { groundingChunks: [...pages.values()], groundingSupports: supports } };
}
