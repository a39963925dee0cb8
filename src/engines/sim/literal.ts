import { type JsonObject, parseJsonObject } from '../../base/json.ts';

/** A piece of a text and where it ends. */
export interface Span {
  readonly value: string;
  readonly end: number;
}

const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '`': '`', '“': '”', '‘': '’' };
/** Bounds the work on a text full of opening braces. */
const MAX_OBJECT_TRIES = 64;

/** The quoted text that begins at `at`. A quote inside a word (an apostrophe) does not close it. */
export function quotedAt(text: string, at: number): Span | undefined {
  const close = QUOTES[text[at] ?? ''];
  if (close === undefined) return undefined;
  let end = text.indexOf(close, at + 1);
  while (end !== -1 && /\w/.test(text[end + 1] ?? '')) end = text.indexOf(close, end + 1);
  return end === -1 ? undefined : { value: text.slice(at + 1, end), end: end + 1 };
}

/** The text without the pair of quotes around it, if there is one. */
export function unquote(text: string): string {
  const close = QUOTES[text[0] ?? ''];
  return close !== undefined && text.length > 1 && text.endsWith(close) ? text.slice(1, -1) : text;
}

/** The JSON object that begins at `at`, as written. */
export function objectAt(text: string, at: number): Span | undefined {
  const end = text[at] === '{' ? closingBrace(text, at) : -1;
  if (end === -1) return undefined;
  const value = text.slice(at, end + 1);
  return parseJsonObject(value) === undefined ? undefined : { value, end: end + 1 };
}

/** Offset of the brace that closes the one at `at`, strings skipped; -1 when it stays open. */
function closingBrace(text: string, at: number): number {
  let depth = 0;
  let quoted = false;
  for (let index = at; index < text.length; index += 1) {
    const character = text[index];
    if (quoted && character === '\\') index += 1;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === '{') depth += 1;
    else if (!quoted && character === '}') depth -= 1;
    if (depth === 0) return index;
  }
  return -1;
}

/** The first JSON object in the text that `accepts` likes, as written. */
export function findObject(text: string, accepts: (object: JsonObject) => boolean): string | undefined {
  let at = text.indexOf('{');
  for (let tries = 0; at !== -1 && tries < MAX_OBJECT_TRIES; tries += 1) {
    const found = objectAt(text, at);
    const object = found === undefined ? undefined : parseJsonObject(found.value);
    if (found !== undefined && object !== undefined && accepts(object)) return found.value;
    at = text.indexOf('{', found?.end ?? at + 1);
  }
  return undefined;
}
