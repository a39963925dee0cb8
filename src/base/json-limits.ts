import { isJsonObject, type JsonObject, type ParseResult, parseJson } from './json.ts';

/** The most that a JSON text from a caller may hold. */
export interface JsonLimits {
  readonly depth: number;
  readonly values: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Why a JSON text is too deep or has too many values, or undefined. It only counts brackets and commas outside of strings, so that it is
 * done before anything is built of the text; whether the text is JSON at all is for the parser to say.
 */
export function jsonExcess(text: string, { depth, values }: JsonLimits): string | undefined {
  let open = 0;
  let found = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    open += STEP[code] ?? 0;
    found += COUNT[code] ?? 0;
    if (open > depth) return `it is nested deeper than ${depth} levels`;
    if (found > values) return `it holds more than ${values} values`;
  }
  return undefined;
}

/** The meaning of a character for the depth, and for the number of values. */
const STEP: Readonly<Record<number, number>> = { 91: 1, 123: 1, 93: -1, 125: -1 };
const COUNT: Readonly<Record<number, number>> = { 91: 1, 123: 1, 44: 1 };

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** The commas and opening brackets of a JSON text outside of its strings. */
export function jsonMarks(text: string): number {
  let found = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else found += COUNT[code] ?? 0;
  }
  return found;
}

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/** Whether a JSON text may hold more values than these, by the same count. Much faster where it holds few: long texts are passed over. */
export function mayHoldMore(text: Buffer, values: number): boolean {
  let found = 1;
  for (const mark of [COMMA, OPEN_BRACKET, OPEN_BRACE]) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
      found += 1;
      if (found > values) return true;
    }
  }
  return false;
}

/**
 * How many values a JSON text holds at most, by its commas and opening brackets. Those inside of texts count too: a caller of this wants
 * to know whether reading may take long, and quickly.
 */
export function mostValues(text: Buffer): number {
  let found = 1;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE) found += 1;
  }
  return found;
}

/** Levels that a value may have for code that calls itself once for each: it needs stack for every one, as the writer of JSON does. */
export const MOST_LEVELS = 1000;

/**
 * The same as `parseJson` for texts that somebody else's program, or a model, has written: what is nested deeper than code can walk is not
 * read. A few kilobytes of brackets would otherwise end the process that writes them down.
 */
export function parseShallow(text: string): ParseResult {
  const excess = tooDeep(text);
  return excess === undefined ? parseJson(text) : { ok: false, message: excess };
}

/** A parsed object; undefined where the text is anything else, or nested too deeply. */
export function parseShallowObject(text: string): JsonObject | undefined {
  const parsed = parseShallow(text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}

/** Why a text has more levels than code can walk. A level takes two characters, and two brackets. */
export function tooDeep(text: string): string | undefined {
  return text.length > 2 * MOST_LEVELS && mayHoldLevels(text) ? jsonExcess(text, { depth: MOST_LEVELS, values: Infinity }) : undefined;
}

/** Whether enough brackets are there. Long texts of words are passed over. */
function mayHoldLevels(text: string): boolean {
  let found = 0;
  for (const mark of ['[', '{']) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
      found += 1;
      if (found > MOST_LEVELS) return true;
    }
  }
  return false;
}
