import { isExactNumber, isJsonObject, type Json, type JsonObject, nearestDouble, parseJson, parseJsonObject } from '../base/json.ts';
import { isQuickSchema, schemaProblem } from './json-schema.ts';

/** The JSON that was found in an answer, or why there is none. */
export type FoundJson = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string };

/** Why a text is not the JSON that was promised; undefined when it is. Without a schema it must be an object, as JSON mode promises. */
export function jsonProblem(text: string, schema: JsonObject | undefined): string | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok) return `the answer is not JSON: ${parsed.message}`;
  if (schema === undefined) return isJsonObject(parsed.value) ? undefined : 'JSON mode promises an object';
  const problem = schemaProblem(schema, withDoubles(parsed.value));
  return problem === undefined ? undefined : `the answer does not fit: ${problem}`;
}

/** The validator knows the numbers of JavaScript; for what a schema asks, the nearest one stands for a longer one. */
function withDoubles(value: Json): Json {
  if (isExactNumber(value)) return nearestDouble(value) ?? Number.MAX_VALUE;
  if (Array.isArray(value)) return value.map((one: Json) => withDoubles(one));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withDoubles(one)]));
}

/** An answer that must be JSON, and what it is held to. */
export interface JsonAsked {
  /** The text that the engine answered with. */
  readonly said: string;
  /** It may be the JSON itself, or words with the JSON in a fence. */
  readonly form: 'json' | 'words';
  /** As JSON text: a tree of many values would take long on its way from thread to thread. */
  readonly schema?: string | undefined;
}

/** The JSON of an answer, or why it is not what was asked for. */
export type JsonVerdict = { readonly json: string } | { readonly problem: string };

/** Judges an answer. Where `isQuickCheck` says no, this belongs on a thread. */
export function judgeJson({ said, form, schema }: JsonAsked): JsonVerdict {
  const found = form === 'words' ? extractJson(said) : undefined;
  if (found?.ok === false) return { problem: found.problem };
  const json = found === undefined ? said : JSON.stringify(found.value);
  const problem = jsonProblem(json, schema === undefined ? undefined : parseJsonObject(schema));
  return problem === undefined ? { json } : { problem };
}

/** A longer answer takes milliseconds to read. */
const LONGEST_QUICK = 64 * 1024;

export function isQuickCheck({ said, schema }: JsonAsked): boolean {
  return said.length <= LONGEST_QUICK && (schema === undefined || isQuickSchema(schema));
}

/** The JSON of a text answer: the whole text, the one fenced block in it, or the one object between its words. */
export function extractJson(text: string): FoundJson {
  const bare = parseJson(text);
  if (bare.ok) return bare;
  const blocks = fencedBlocks(text);
  const [block] = blocks;
  if (block === undefined) return betweenWords(text, bare.message);
  if (blocks.length > 1) return failed(`the answer holds ${blocks.length} fenced blocks, one is expected`);
  const fenced = parseJson(block);
  return fenced.ok ? fenced : failed(`the fenced block is not JSON: ${fenced.message}`);
}

function betweenWords(text: string, message: string): FoundJson {
  const [first, ...others] = objectsIn(text);
  if (first === undefined) return failed(`the answer is not JSON: ${message}`);
  return others.length === 0 ? { ok: true, value: first } : failed(`the answer holds ${others.length + 1} JSON objects, one is expected`);
}

/** Braces of prose that are tried. */
const MOST_BRACES = 100;

/** The objects that stand in a text, the empty one aside: prose has braces, too. */
function objectsIn(text: string): JsonObject[] {
  const found: JsonObject[] = [];
  let start = text.indexOf('{');
  for (let tries = 0; start !== -1 && tries < MOST_BRACES; tries += 1) {
    const end = endOf(text, start);
    const object = end === undefined ? undefined : parseJsonObject(text.slice(start, end));
    if (object !== undefined && Object.keys(object).length > 0) found.push(object);
    start = text.indexOf('{', object === undefined ? start + 1 : end);
  }
  return found;
}

/** Where the braces that open at a place are closed again; those in strings do not count. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '\\' && inString) at += 1;
    else if (sign === '"') inString = !inString;
    else if (!inString && sign === '{') depth += 1;
    else if (!inString && sign === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

const LANGUAGE = /^(?:json[c5]?)?$/i;

/** Where a line ends in a fence, behind words with a language after it or behind the JSON: no line of JSON ends like that. */
function lastFence(line: string): number | undefined {
  const at = line.lastIndexOf('```');
  return at >= 0 && LANGUAGE.test(line.slice(at + 3).trim()) ? at : undefined;
}

/** Read by lines: a fence begins or ends one, since a JSON string has no raw line break. An unclosed block ends with the text. */
function fencedBlocks(text: string): string[] {
  const blocks: string[] = [];
  let open: string[] | undefined;
  for (const line of text.split('\n')) {
    const isFence = line.trimStart().startsWith('```');
    const last = isFence ? undefined : lastFence(line);
    if (!isFence && last === undefined) {
      open?.push(line);
    } else if (open === undefined) {
      open = [];
    } else {
      if (last !== undefined) open.push(line.slice(0, last));
      blocks.push(open.join('\n'));
      open = undefined;
    }
  }
  if (open !== undefined) blocks.push(open.join('\n'));
  return blocks;
}

function failed(problem: string): FoundJson {
  return { ok: false, problem };
}
