import { canonicalJson } from '../../base/canonical-json.ts';
import { type Json, parseJson } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';

/** Tasks, negotiations and fidelity records come again and again; looking one up costs a fraction of sorting it. */
const known = new Map<string, string>();
/** Fidelity records and tags as values, for the same reason. */
const knownLists = new Map<string, Json>();
const MOST_KNOWN = 1000;
const LONGEST_KNOWN = 4096;
const SHORTEST = 4;

/**
 * The RFC 8785 form of a value whose members are in order already: only an escape may have another form. Here and below the form is given
 * as its UTF-8 bytes, one per character: receipts are put together from such texts and written byte by byte, which one wide character in
 * a string would make several times as dear.
 */
export function plainText(text: string): string {
  return text.includes('\\') ? canonicalText(text) : text;
}

/** The RFC 8785 form of a value whose members are in any order, as bytes. */
export function canonicalText(text: string): string {
  // `null`, `true`, an empty list or object, a text of two characters: none of them has another form.
  if (text.length <= SHORTEST) return text;
  const found = known.get(text);
  if (found !== undefined) return found;
  const made = Buffer.from(canonicalJson(parsedText(text)), 'utf8').toString('latin1');
  remember(known, text, made);
  return made;
}

function remember<T>(all: Map<string, T>, text: string, made: T): void {
  if (text.length > LONGEST_KNOWN) return;
  if (all.size >= MOST_KNOWN) all.clear();
  all.set(text, made);
}

const QUOTE = 0x22;
const LIST = 0x5b;
const NOTHING: Json = Object.freeze([]);
/** Whole numbers that a double holds. */
const SHORT_INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;

/** The value of a text that a fact holds. Most are a string as it is, a whole number, or nothing. */
export function parsedText(text: string): Json {
  if (text === 'null') return null;
  if (text === '[]') return NOTHING;
  if (text.charCodeAt(0) === QUOTE && text.charCodeAt(text.length - 1) === QUOTE && !text.includes('\\')) return text.slice(1, -1);
  if (SHORT_INTEGER.test(text)) return Number(text);
  if (text.charCodeAt(0) !== LIST) return readOnce(text);
  const found = knownLists.get(text);
  if (found !== undefined) return found;
  const made = readOnce(text);
  remember(knownLists, text, made);
  return made;
}

const NUMBER_END = /[,}]/g;

/**
 * The number under a name in the text of an object, without reading the rest of it; undefined where there is none. Quotes inside of a string
 * are escaped, so that no word of somebody else looks like the name.
 */
export function memberNumber(text: string, member: string): number | undefined {
  const name = `"${member}":`;
  const at = text.indexOf(name);
  if (at === -1) return undefined;
  NUMBER_END.lastIndex = at + name.length;
  const number = Number(text.slice(at + name.length, NUMBER_END.exec(text)?.index));
  return Number.isNaN(number) ? undefined : number;
}

/** The usage of a call is asked for twice, by its price and by the sums. */
let last: { readonly text: string; readonly value: Json } | undefined;

function readOnce(text: string): Json {
  if (last?.text === text) return last.value;
  const result = parseJson(text);
  if (!result.ok) throw new AbpError('internal', `a fact holds a damaged value: ${result.message}`);
  last = { text, value: result.value };
  return result.value;
}
